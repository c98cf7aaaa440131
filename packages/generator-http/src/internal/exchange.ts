/** One HTTP request and its response over undici. Redirects are not followed, bodies are not decompressed. */
import * as GuardedHttp from "@kinora/address-guard/GuardedHttp"
import { Data, Effect } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import type { Readable } from "node:stream"
import type { Dispatcher, FormData } from "undici"

/** A request. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | FormData | undefined
}

/** A response whose head is complete. */
export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The body. It fails if the connection ends early. */
  readonly body: Readable
}

/** How far a request got. */
export interface Progress {
  /** Whether a part of the request may have been written, so that the server may have processed it. */
  isWritten: boolean
}

/** The connection failed, or the response is not HTTP. */
export class Disconnected extends Data.TaggedError("Disconnected")<{
  /** Code of Node or undici, such as `ECONNREFUSED`. */
  readonly code: string
}> {}

/**
 * Sends a request and returns its response as soon as the head is complete. Interruption and
 * the end of the scope close the connection unless the response was read to its end.
 */
export const send = (dispatcher: Dispatcher, { body, headers, method, url }: HttpRequest, progress: Progress) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async (signal): Promise<HttpResponse> => {
        const noting = dispatcher.compose((dispatch) => (options, handler) =>
          dispatch(options, observing(handler, progress))
        )
        const response = await noting.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method,
          headers,
          body: body ?? null,
          signal
        })
        // A body that is closed before its end emits an error, which would end the process without a listener.
        response.body.on("error", ignore)
        return { status: response.statusCode, headers: response.headers, body: response.body }
      },
      catch: disconnected
    }),
    ({ body }) => Effect.sync(() => void body.destroy()),
    { interruptible: true }
  )

/** Creates the error for a failure of undici. Throws if undici rejects the request as invalid, which is a bug. */
export const disconnected = (cause: unknown): Disconnected => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown"
  if (code === "UND_ERR_INVALID_ARG") throw cause
  return new Disconnected({ code })
}

/**
 * Reads a body to its end. Returns `undefined` and closes the connection if the body has more than `bytesMax` bytes.
 */
export const readWhole = (body: Readable, bytesMax: number): Effect.Effect<Buffer | undefined, Disconnected> =>
  Effect.tryPromise({ try: () => GuardedHttp.readWhole(body, bytesMax), catch: disconnected })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Records that a request is about to be written: undici calls `onRequestStart` on an open connection. */
const observing = (handler: Dispatcher.DispatchHandler, progress: Progress): Dispatcher.DispatchHandler => ({
  onRequestStart: (controller, context) => {
    progress.isWritten = true
    handler.onRequestStart?.(controller, context)
  },
  onResponseStart: (...head) => handler.onResponseStart?.(...head),
  onResponseData: (...part) => handler.onResponseData?.(...part),
  onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
  onResponseError: (...error) => handler.onResponseError?.(...error)
})

const ignore = () => {}
