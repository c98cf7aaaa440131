/** Ends streamed responses that clients receive too slowly, so that these cannot hold files, places and memory. Logs the ones that fail. */
import { Cause, Duration, Effect, Scope, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { RequestState } from "./currentRequest.ts"
import { Transfer, type Transfers } from "./transfers.ts"

/**
 * Returns the same response, which calls `close` when the client is too slow. The time in which the server has nothing
 * to send, as between events, does not count. A stream that fails is logged. A response without a stream is returned
 * unchanged.
 */
export const limit = (
  response: HttpServerResponse.HttpServerResponse,
  { responseStallMax: stallMax, transferRateMin: rateMin }: HttpServerOptions,
  { observe }: Transfers,
  { close, id }: RequestState
): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Stream") return response
  const limited = Stream.transformPull(body.stream, (pull, scope) => {
    const transfer = new Transfer({ rateMin, stallMax, timeMax })
    const next = Effect.suspend(() => {
      transfer.pause()
      return Effect.map(pull, (chunks) => {
        for (const { length } of chunks) transfer.count(length)
        transfer.resume()
        return chunks
      })
    })
    return Effect.as(Scope.provide(observe(transfer, close), scope), next)
  })
  // The server of the platform closes the connection, and logs nothing.
  const logged = Stream.tapCause(limited, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.void
      : Effect.annotateLogs(Effect.logError("A response could not be completed", cause), { request_id: id }))
  return HttpServerResponse.setBody(response, HttpBody.stream(logged, body.contentType, body.contentLength))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** No limit of its own: the minimum rate limits the time of a file, and the end of the job that of an event stream. */
const timeMax = Duration.infinity
