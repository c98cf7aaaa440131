/** Server-sent events with the states of a job. See docs/reference/http-api.md#event-streams. */
import type { Generation } from "@kinora/generations/Generation"
import type * as Wire from "@kinora/http-api/Generation"
import { type Duration, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/**
 * Makes the response that sends each state as an event and ends after the last one. It
 * sends a comment at every `heartbeat`, so that proxies do not close a silent stream.
 *
 * A job enters each state once, so the id of an event is the state.
 *
 * If `isComplete` is `false`, the stream ends before the job does. A comment says so, and the
 * delay of the next connection comes last: decoders such as Effect's end the stream there.
 */
export const response = <E>(
  states: Stream.Stream<Generation, E>,
  toWire: (generation: Generation) => Effect.Effect<typeof Wire.Generation.Encoded>,
  heartbeat: Duration.Duration,
  isComplete: boolean
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    states.pipe(
      Stream.mapEffect((generation) =>
        Effect.map(toWire(generation), (body) =>
          `id: ${generation.status}\nevent: generation\ndata: ${JSON.stringify(body)}\n\n`)
      ),
      (events) =>
        isComplete ? events : Stream.make(incomplete).pipe(Stream.concat(events), Stream.concat(Stream.make(retry))),
      Stream.merge(
        Stream.drop(
          Stream.map(Stream.tick(heartbeat), () =>
            ": still here\n\n"),
          1
        ),
        {
          haltStrategy: "left"
        }
      ),
      Stream.encodeText
    ),
    {
      contentType: "text/event-stream",
      headers: { "cache-control": "no-cache", "x-accel-buffering": "no" }
    }
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The delay after which an `EventSource` connects again. */
const retry = "retry: 5000\n\n"

const incomplete = ": too many requests of this key wait; this stream ends after the current state, connect again\n\n"
