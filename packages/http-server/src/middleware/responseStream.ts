/** Ends streamed responses that clients receive too slowly, so that these cannot hold files, places and memory. */
import { Duration, Effect, Scope, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { Transfer, type Transfers } from "./transfers.ts"

/**
 * Returns the same response, which calls `close` when the client is too slow. The time in which the server has nothing
 * to send, as between events, does not count. A response without a stream is returned unchanged.
 */
export const limit = (
  response: HttpServerResponse.HttpServerResponse,
  { responseStallMax: stallMax, transferRateMin: rateMin }: HttpServerOptions,
  { observe }: Transfers,
  close: () => void
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
  return HttpServerResponse.setBody(response, HttpBody.stream(limited, body.contentType, body.contentLength))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** No limit of its own: the minimum rate limits the time of a file, and the end of the job that of an event stream. */
const timeMax = Duration.infinity
