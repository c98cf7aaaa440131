/**
 * Idempotent requests for Express 4 and 5, and for other frameworks whose middleware gets the request and response of Node.
 *
 *     app.use(express.json(), idempotent({ idempotency, scope: (request) => request.user.id }))
 */
import { type IdempotencyOptions, idempotent as decider, type Reply } from "./http.ts"
import { keyOf, type NodeRequest, parsedBody } from "./internal/http/nodeRequest.ts"
import { captureNode, type NodeResponse } from "./internal/http/nodeResponse.ts"

export { type IdempotencyOptions, type PerRequest, type Refusal, type Reply, runningRequest } from "./http.ts"

/**
 * The part of a request of Express that the middleware reads. Functions of the options get the whole request: write the
 * type of their parameter to read more of it.
 */
export interface ExpressRequest extends NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly originalUrl?: string | undefined
  readonly body?: unknown
}

/** The part of a response of Express that the middleware uses. */
export interface ExpressResponse extends NodeResponse {
  readonly setHeader: (name: string, value: string) => unknown
}

/**
 * Returns a middleware that runs requests with an idempotency key once. Add it after the parser of the body, and after
 * the authentication that the scope depends on. Errors of functions of the options are passed to `next`.
 */
export const idempotent = <Request extends ExpressRequest = ExpressRequest>(options: IdempotencyOptions<Request>) => {
  const decide = decider(options, (request) => ({
    method: request.method ?? "",
    url: request.originalUrl ?? request.url ?? "",
    key: keyOf(request),
    readBody: () => parsedBody(request, request.body)
  }))
  return async (
    request: NoInfer<Request>,
    response: ExpressResponse,
    next: (error?: unknown) => void
  ): Promise<void> => {
    let isAllowed = true
    try {
      const decision = await decide(request)
      if (decision._tag === "Reply") {
        isAllowed = false
        respond(response, decision.reply)
      } else if (decision._tag === "Run") captureNode(response, decision)
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
  for (const [name, value] of headers) response.setHeader(name, value)
  Reflect.apply(response.end, response, [body])
}
