/**
 * Writes the bodies of files to connections. The memory of a chunk is used again as soon as the system has taken it, which a
 * stream of the framework does not report.
 *
 * A host of which the requests have connections provides one. Without it, files are sent as streams.
 */
import { Context, type Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

/** The connection of a request, to which the response is written. */
export interface Connection {
  /** Sends the status and the headers, with the first bytes. Call it once, first. */
  readonly head: (response: HttpServerResponse.HttpServerResponse) => void
  /**
   * Sends bytes. Returns `undefined` if the system has taken them, and otherwise what waits until it has. If that is
   * interrupted, the connection is closed.
   */
  readonly write: (bytes: Uint8Array) => Effect.Effect<void> | undefined
  /** Like `write`, for the last bytes of the response. */
  readonly end: (bytes: Uint8Array) => Effect.Effect<void> | undefined
  /** Closes the connection, so that the client does not take the response for complete. */
  readonly abort: () => void
}

/** Returns the connection of a request, or `undefined` if its response has to be a stream. */
export type ResponseWriter = (request: HttpServerRequest.HttpServerRequest) => Connection | undefined

/** The writer of this host. By default every response is a stream. */
export const ResponseWriter = Context.Reference<ResponseWriter>("@kinora/http-server/ResponseWriter", {
  defaultValue: () => () => undefined
})
