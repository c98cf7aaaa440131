/**
 * Limits for Express 4 and 5, and for other frameworks whose middleware gets the request and response of Node.
 *
 *     app.use(rateLimit({ limits, policy: "api", limit: 100 }))
 */
import { limiter, type RateLimitOptions, type Reply } from "./http.ts"
import { appended } from "./internal/http/appended.ts"

export type { Decision, OnError, PerRequest, RateLimitOptions, Refusal, Reply } from "./http.ts"

/**
 * The part of a request of Express that the middleware reads. Functions of the options get the whole request: write the
 * type of their parameter to read more of it, `(request: Request) => request.params.account`.
 */
export interface ExpressRequest {
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** The address of the client, which depends on the setting `trust proxy`. */
  readonly ip?: string | undefined
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** The part of a response of Express that the middleware writes. */
export interface ExpressResponse {
  statusCode: number
  readonly getHeader: (name: string) => number | string | ReadonlyArray<string> | undefined
  readonly setHeader: (name: string, value: string) => unknown
  readonly end: (body: string) => unknown
}

/**
 * Returns a middleware that limits requests. Errors of functions of the options are passed to `next`. The default key is
 * `request.ip`: behind a proxy, set `trust proxy`, or all clients share the limit of the proxy's address.
 */
export const rateLimit = <Request extends ExpressRequest = ExpressRequest>(options: RateLimitOptions<Request>) => {
  const decide = limiter(options, (request) => request.ip ?? request.socket.remoteAddress)
  return async (
    request: NoInfer<Request>,
    response: ExpressResponse,
    next: (error?: unknown) => void
  ): Promise<void> => {
    let isAllowed: boolean
    try {
      const { headers, reply } = await decide(request)
      for (const [name, value] of Object.entries(headers)) {
        response.setHeader(name, appended(name, response.getHeader(name), value))
      }
      if (reply !== undefined) respond(response, reply)
      isAllowed = reply === undefined
    } catch (error) {
      return next(error)
    }
    if (isAllowed) next()
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const respond = (response: ExpressResponse, { body, headers, status }: Reply) => {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(body)
}
