/** Responses to requests that no endpoint handles. See docs/reference/http-api.md#rate-limit-headers. */
import { Cause, Effect } from "effect"
import { HttpServerError, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { closing, errorResponse, noSuchRoute, responseTo } from "../wire/errorResponse.ts"
import { makeCountKey } from "./authentication.ts"
import type { RequestState } from "./currentRequest.ts"
import type { Route } from "./metrics.ts"
import { failedAuthentications } from "./rateLimits.ts"

type Response = HttpServerResponse.HttpServerResponse

/**
 * Makes the function that completes the routes with 404 for unknown paths, 405 for other
 * methods, and 400 for targets that are not paths. Below `/v1/`, such a request counts as a request of its key.
 */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const countKey = yield* makeCountKey(options)

  const respond = (state: RequestState, { methods }: Route, path: string) =>
    Effect.suspend(() => {
      const response = !state.request.url.startsWith("/")
        ? invalidTarget
        : methods.length === 0
        ? noSuchRoute
        : methodNotAllowed(state, methods)
      // A path that does not exist shows the limit of the address on every prefix.
      if (methods.length === 0) state.limit = failedAuthentications(state, options)
      // Other paths can have other credentials, such as the operator's token.
      return path.startsWith("/v1/")
        ? Effect.match(countKey(state), { onFailure: responseTo, onSuccess: () => response })
        : Effect.succeed(response)
    })

  /** `found` is the route whose path is this one in any spelling, `route` the one with this spelling. */
  return <E, R>(app: Effect.Effect<Response, E, R>, state: RequestState, route: Route, found: Route | undefined) => {
    const { method, url } = state.request
    // Almost every request.
    if (route.methods.includes(method)) return app
    if (found !== undefined && found !== route) return respond(state, route, found.path)
    return Effect.catchCause(
      app,
      (cause) => isUnrouted(cause) ? respond(state, route, url) : Effect.failCause(cause)
    )
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether the router has found no endpoint. */
const isUnrouted = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) =>
    Cause.isFailReason(reason) && HttpServerError.isHttpServerError(reason.error) &&
    reason.error.reason._tag === "RouteNotFound"
  )

const invalidTarget = closing(errorResponse("invalid_request", {
  message:
    "The request has no valid target; send a path, and exactly one Host header with a host and optionally a port."
}))

const methodNotAllowed = ({ request: { method } }: RequestState, methods: ReadonlyArray<string>): Response =>
  HttpServerResponse.setHeader(
    errorResponse("method_not_allowed", {
      message: `This path does not support ${method}; use ${methods.join(" or ")}.`
    }),
    "allow",
    methods.join(", ")
  )
