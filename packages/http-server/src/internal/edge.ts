/**
 * What surrounds every route: the request id, the limit headers, the envelope for
 * everything that no handler answers, and the counting of it all.
 */
import { AdminApi } from "@kinora/http-api/AdminApi"
import { Api } from "@kinora/http-api/Api"
import * as StorageError from "@kinora/persistence/StorageError"
import { RateLimit } from "@kinora/rate-limit"
import { Cause, Clock, Context, Effect, Random, Scope, Tracer } from "effect"
import {
  FindMyWay,
  HttpMiddleware,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as AdminDocument from "./admin/document.ts"
import { CurrentRequest, requestId, RequestState } from "./currentRequest.ts"
import { errorResponse, noSuchRoute, retryAfterSeconds } from "./errorResponse.ts"
import { describe, failedAuthentication } from "./limits.ts"
import { Measured, Route } from "./metrics.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The middleware around all routes. */
export const layer = (options: HttpServerOptions) => {
  const routes = options.adminToken === undefined ? publicRoutes : allRoutes
  return HttpRouter.middleware(
    Effect.map(RateLimit.RateLimit, (rateLimit) => (app) => {
      const handled = Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const random = fiber.getRef(Random.Random)
        const state = new RequestState(request, requestId(request.headers["x-request-id"], random))
        const route = routes.find("GET", request.url)?.handler ?? unknownRoute
        const measured = new Measured(fiber.context, fiber.getRef(Clock.Clock), route.seriesOf(request.method))
        const scope = Context.getUnsafe(fiber.context, Scope.Scope)
        const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
        if (span?._tag === "Span") span.attribute("request.id", state.id)
        return Scope.addFinalizer(scope, Effect.sync(() => measured.ended())).pipe(
          Effect.andThen(app),
          Effect.catchCause((cause) => {
            // A known path, asked by another method, has its limit from below (D26).
            if (route === unknownRoute && isUnrouted(cause)) state.limit ??= failedAuthentication(state, options)
            return recover(cause, request, route)
          }),
          Effect.flatMap((response) => {
            if (carriesLimit(request.url)) state.limit ??= failedAuthentication(state, options)
            const normal = normalise(response)
            measured.answered(normal, !state.isWaiting)
            return finish(normal, state, rateLimit)
          }),
          Effect.provideService(CurrentRequest, state),
          Effect.annotateLogs("request_id", state.id)
        )
      })
      return options.trustedProxies.length === 0
        ? handled
        : HttpMiddleware.xForwardedHeaders({ trustedProxies: options.trustedProxies })(handled)
    }),
    { global: true }
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** All of the interface does; probes, documents and the routes of others do not (D26). */
const carriesLimit = (url: string) => url.startsWith("/v1/")

const isUnrouted = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some((reason) =>
    Cause.isFailReason(reason) && HttpServerError.isHttpServerError(reason.error) &&
    reason.error.reason._tag === "RouteNotFound"
  )

const finish = (
  response: Response,
  { id, limit }: RequestState,
  rateLimit: RateLimit.RateLimit["Service"]
): Effect.Effect<Response> =>
  limit === undefined
    ? Effect.succeed(HttpServerResponse.setHeader(response, "x-request-id", id))
    : Effect.map(
      describe(limit, rateLimit),
      (headers) => HttpServerResponse.setHeaders(response, { ...headers, "x-request-id": id })
    )

/** The framework's own refusals of a body are no envelopes. */
const normalise = (response: Response): Response => {
  if (response.status !== 413 && response.status !== 415) return response
  if (response.headers["content-type"] === "application/json") return response
  return response.status === 413 ? payloadTooLarge : unsupportedMediaType
}

const payloadTooLarge = errorResponse("payload_too_large", { headers: { connection: "close" } })
const unsupportedMediaType = errorResponse("unsupported_media_type")
const internalError = errorResponse("internal_error")
const unavailable = errorResponse("unavailable", { headers: retryAfterSeconds(1) })
const shuttingDown = errorResponse("unavailable", {
  message: "The service is restarting; try again shortly.",
  headers: { ...retryAfterSeconds(1), connection: "close" }
})

/** The response to what no handler turned into one. */
const recover = <E>(
  cause: Cause.Cause<E>,
  request: HttpServerRequest.HttpServerRequest,
  route: Route
): Effect.Effect<Response, E> => {
  if (Cause.hasInterruptsOnly(cause)) {
    const isAbort = cause.reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))
    return isAbort ? Effect.failCause(cause) : Effect.succeed(shuttingDown)
  }
  for (const reason of cause.reasons) {
    const problem = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (HttpServerError.isHttpServerError(problem)) {
      const known = ofServerError(problem, request, route)
      if (known !== undefined) return Effect.succeed(known)
    }
  }
  // A connection lost inside a transaction surfaces as a defect in today's driver.
  const isTransient = StorageError.findInCause("HttpServer", cause)?.isRetryable === true
  return Effect.as(
    Effect.logError(`${request.method} ${pathOf(request.url)} failed`, cause),
    isTransient ? unavailable : internalError
  )
}

const ofServerError = (
  { reason }: HttpServerError.HttpServerError,
  request: HttpServerRequest.HttpServerRequest,
  route: Route
): Response | undefined => {
  switch (reason._tag) {
    case "RouteNotFound":
      return unrouted(request, route)
    case "RequestParseError":
      return reason.reason === "BodyTooLarge"
        ? payloadTooLarge
        : errorResponse("invalid_request", { message: "The request body could not be read; send it again." })
    default:
      return undefined
  }
}

/** 405 when other methods are known at this path, else 404. */
const unrouted = ({ method }: HttpServerRequest.HttpServerRequest, route: Route): Response =>
  route === unknownRoute ? noSuchRoute : errorResponse("method_not_allowed", {
    message: `${method} is not allowed here; use ${route.methods.join(" or ")}.`,
    headers: { allow: route.methods.join(", ") }
  })

/** Paths and their methods; HEAD goes wherever GET goes. */
type Paths = ReadonlyArray<readonly [path: string, methods: ReadonlyArray<string>]>

const pathsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): Paths => {
  const byPath = new Map<string, Array<string>>()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => {
      const methods = byPath.get(path) ?? []
      byPath.set(path, methods)
      methods.push(...(method === "GET" ? documentMethods : [method]))
    }
  })
  return [...byPath]
}

const routerOf = (paths: Paths): FindMyWay.Router<Route> => {
  const router = FindMyWay.make<Route>()
  for (const [path, methods] of paths) router.all(path as `/${string}`, new Route(path, methods))
  return router
}

const unknownRoute = new Route("unknown", [])

const documentMethods = ["GET", "HEAD"]
const publicPaths: Paths = [...pathsOf(Api), ["/openapi.json", documentMethods], ["/docs", documentMethods]]
const publicRoutes = routerOf(publicPaths)
/** With the interface for operators, which is as unknown as anything else where there is none (D50). */
const allRoutes = routerOf([...publicPaths, ...pathsOf(AdminApi), [AdminDocument.path, documentMethods]])

/** Without the query, which may hold a signature. */
const pathOf = (url: string) => url.split("?", 1)[0] ?? url
