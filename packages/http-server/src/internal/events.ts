/** A job's states as server-sent events (D39). */
import type { Generation } from "@kinora/generations/Generation"
import type * as Wire from "@kinora/http-api/Generation"
import { type Duration, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/**
 * The response that sends the states as they come and ends with them, and after every
 * `heartbeat` a comment, so that no proxy takes the silence for the end.
 *
 * A job is in a state once, so the state is the id of its event.
 */
export const response = <E>(
  states: Stream.Stream<Generation, E>,
  toWire: (generation: Generation) => Effect.Effect<typeof Wire.Generation.Encoded>,
  heartbeat: Duration.Duration
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    states.pipe(
      Stream.mapEffect((generation) =>
        Effect.map(toWire(generation), (body) =>
          `id: ${generation.status}\nevent: generation\ndata: ${JSON.stringify(body)}\n\n`)
      ),
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
