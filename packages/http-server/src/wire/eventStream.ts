/** Server-sent events with the states of jobs. See docs/reference/http-api.md#event-streams. */
import type { Generation } from "@kinora/generations/Generation"
import type * as Wire from "@kinora/http-api/Generation"
import { type Duration, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/** A state of a job as an event. */
export interface Event {
  /** The `Last-Event-ID` of a client that connects again. */
  readonly id: string
  readonly job: typeof Wire.Generation.Encoded
}

/**
 * Makes the response that sends the states of one job as events and ends after the last one. It
 * sends a comment at every `heartbeat`, so that proxies do not close a silent stream.
 *
 * If `isComplete` is `false`, the stream ends before the job does. A comment announces that,
 * and the delay of the next connection comes last: decoders such as Effect's end the stream there.
 */
export const response = <E>(
  states: Stream.Stream<Generation, E>,
  toEvent: (generation: Generation) => Effect.Effect<Event>,
  heartbeat: Duration.Duration,
  isComplete: boolean
): HttpServerResponse.HttpServerResponse => {
  const events = textsOf(states, toEvent)
  return respond(
    isComplete ? events : Stream.make(incomplete).pipe(Stream.concat(events), Stream.concat(Stream.make(retry))),
    heartbeat
  )
}

/**
 * Makes the response that sends the states of many jobs as events. It begins with the id of the time `startId`, so that
 * a client that connects again before the first event misses nothing, and with the delay of the next connection.
 */
export const responseOfMany = <E>(
  states: Stream.Stream<Generation, E>,
  toEvent: (generation: Generation) => Effect.Effect<Event>,
  heartbeat: Duration.Duration,
  startId: string
): HttpServerResponse.HttpServerResponse =>
  respond(Stream.concat(Stream.make(`id: ${startId}\n${retry}`), textsOf(states, toEvent)), heartbeat)

/** The response to a client without a place: it connects again after a delay. */
export const responseWithoutPlace = (heartbeat: Duration.Duration): HttpServerResponse.HttpServerResponse =>
  respond(Stream.make(incomplete, retry), heartbeat)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const textsOf = <E>(
  states: Stream.Stream<Generation, E>,
  toEvent: (generation: Generation) => Effect.Effect<Event>
): Stream.Stream<string, E> =>
  Stream.mapEffect(
    states,
    (generation) =>
      Effect.map(toEvent(generation), ({ id, job }) => `id: ${id}\nevent: generation\ndata: ${JSON.stringify(job)}\n\n`)
  )

const respond = <E>(
  events: Stream.Stream<string, E>,
  heartbeat: Duration.Duration
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    events.pipe(
      Stream.merge(
        Stream.drop(
          Stream.map(Stream.tick(heartbeat), () => ": still here\n\n"),
          1
        ),
        { haltStrategy: "left" }
      ),
      Stream.encodeText
    ),
    {
      contentType: "text/event-stream",
      headers: { "cache-control": "no-cache", "x-accel-buffering": "no" }
    }
  )

/** The delay after which an `EventSource` connects again. */
const retry = "retry: 5000\n\n"

const incomplete = ": too many requests of this key wait; this stream ends after the current state, connect again\n\n"
