/**
 * The middleware around all routes: request ids, limit headers, metrics, and the error
 * envelope for everything that no handler responds to.
 */
import * as StorageError from "@kinora/persistence/StorageError"
import { RateLimit } from "@kinora/rate-limit"
import { Cause, Clock, Context, Effect, type Fiber, Random, References, Scope, Tracer } from "effect"
import {
  type FindMyWay,
  HttpMiddleware,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as DirectRoutes from "../routes/directRoutes.ts"
import { closing, errorResponse, noSuchRoute } from "../wire/errorResponse.ts"
import * as Compression from "./compression.ts"
import * as Cors from "./cors.ts"
import { CurrentRequest, requestId, RequestState } from "./currentRequest.ts"
import { Measured, type Route } from "./metrics.ts"
import { describe, failedAuthentications, readLimit } from "./rateLimits.ts"
import * as RequestBudget from "./requestBudget.ts"
import * as ResponseStream from "./responseStream.ts"
import { unknownRoute } from "./routeTable.ts"
import * as SmallBodies from "./smallBodies.ts"
import * as Transfers from "./transfers.ts"
import * as Unrouted from "./unrouted.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The middleware of a listener with these paths. */
export const layer = <R = never>(
  options: HttpServerOptions,
  routes: FindMyWay.Router<Route>,
  makeDirect: Effect.Effect<DirectRoutes.Find, never, R> = Effect.succeed(DirectRoutes.none)
) =>
  HttpRouter.middleware(
    Effect.map(
      Effect.all([
        RateLimit.RateLimit,
        RequestBudget.make(options),
        SmallBodies.make(options),
        Transfers.make,
        Unrouted.make(options),
        Compression.make,
        makeDirect
      ]),
      ([rateLimit, budgeted, smallBodies, transfers, completed, compress, direct]) => (app) => {
        const cors = Cors.make(options)
        const handled = Effect.withFiber((fiber) => {
          const state = stateOf(fiber, smallBodies)
          const { request } = state
          const { found, params, route } = findRoute(routes, request)
          const clock = fiber.getRef(Clock.Clock)
          const measured = new Measured(fiber.context, clock, route.seriesOf(request.method))
          annotateSpan(fiber.context, state, route)
          const answer = <E, R>(response: Effect.Effect<Response, E, R>) =>
            response.pipe(
              Effect.catchCause((cause) => recover(cause, state)),
              Effect.flatMap((response) => {
                if (isLimited(request.url)) state.limit ??= failedAuthentications(state, options)
                const normal = normalize(response)
                measured.answered(normal, !state.isWaiting)
                const limited = ResponseStream.limit(normal, options, transfers, state)
                const finished = finish(limited, cors.headersOf(request, route), state, rateLimit)
                return Compression.isWorthwhile(normal, route) ? compress(finished, request) : finished
              })
            )
          const preflight = cors.preflight(request, route)
          const handler = preflight === undefined
            ? direct(request, route, params, clock) ?? completed(app, state, route, found)
            : Effect.succeed(preflight)
          const inTime = probes.has(route.path) ? answer(handler) : budgeted(
            (budget) => {
              state.budget = budget
              return answer(budget.within(Effect.flatMap(handler, readLimit(state, rateLimit)), logLate(request)))
            },
            Effect.suspend(() => {
              state.budget = RequestBudget.exhausted
              return answer(Effect.succeed(overloaded))
            })
          )
          return Scope.addFinalizer(
            Context.getUnsafe(fiber.context, Scope.Scope),
            Effect.sync(() => measured.ended())
          ).pipe(
            Effect.andThen(inTime),
            Effect.updateContext(contextOf(state))
          )
        })
        return options.trustedProxies.length === 0
          ? handled
          : HttpMiddleware.xForwardedHeaders({ trustedProxies: options.trustedProxies })(handled)
      }
    ),
    { global: true }
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes the state of the request that a fiber handles. */
const stateOf = (fiber: Fiber.Fiber<unknown, unknown>, smallBodies: SmallBodies.SmallBodies): RequestState => {
  const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
  return new RequestState(
    request,
    requestId(request.headers["x-request-id"], fiber.getRef(Random.Random)),
    smallBodies,
    () => fiber.interruptUnsafe(fiber.id, HttpServerError.ClientAbort.annotation)
  )
}

/** Makes the function that adds the state of a request. Each change of the context costs time, so both parts are added at once. */
const contextOf = (state: RequestState) => (context: RequestContext): RequestContext =>
  Context.add(Context.add(context, CurrentRequest, state), References.CurrentLogAnnotations, {
    ...Context.get(context, References.CurrentLogAnnotations),
    request_id: state.id
  })

type RequestContext = Context.Context<HttpServerRequest.HttpServerRequest | Scope.Scope>

/** Whether responses carry limit headers. Those of probes, documents and operators do not. */
const isLimited = (url: string) => url.startsWith("/v1/")

/** Paths that respond under any load, so that an operator and an orchestrator can distinguish a busy server from a dead one. */
const probes: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"])

const annotateSpan = (context: Context.Context<never>, { id }: RequestState, route: Route): void => {
  const span = Context.getOrUndefined(context, Tracer.ParentSpan)
  if (span?._tag !== "Span") return
  span.attribute("request.id", id)
  // Direct routes do not pass the router, which sets it.
  if (route !== unknownRoute) span.attribute("http.route", route.path)
}

/** Returns the route whose path a request has, in any spelling (`found`), and in that of the contract (`route`). */
const findRoute = (routes: FindMyWay.Router<Route>, { url }: HttpServerRequest.HttpServerRequest) => {
  const match = routes.find("GET", url)
  const found = match?.handler
  // The router accepts other spellings of a path: case, slashes, `;`, percent-encodings. They are unknown paths
  // here, so that a rule of a proxy for a path covers every request that gets there.
  const route = found?.isSpelled(url) === true ? found : unknownRoute
  return { found, route, params: match?.params ?? noParams }
}

const noParams = {}

/** Adds the headers of every response at once, since each change of a response copies all of its headers. */
const finish = (
  response: Response,
  headers: Readonly<Record<string, string>>,
  { budget, id, limit }: RequestState,
  rateLimit: RateLimit.RateLimit["Service"]
): Effect.Effect<Response> =>
  limit === undefined
    ? Effect.succeed(HttpServerResponse.setHeaders(response, { ...headers, "x-request-id": id }))
    : Effect.map(
      describe(limit, rateLimit, budget),
      (limits) => HttpServerResponse.setHeaders(response, { ...headers, ...limits, "x-request-id": id })
    )

/** Replaces the framework's own responses to bodies, which have no envelope, and ends connections whose body is late. */
const normalize = (response: Response): Response => {
  if (response.status === 408) return closing(response)
  if (response.status !== 413 && response.status !== 415) return response
  if (response.headers["content-type"] === "application/json") return response
  return response.status === 413 ? payloadTooLarge : unsupportedMediaType
}

const payloadTooLarge = closing(errorResponse("payload_too_large"))
const unsupportedMediaType = errorResponse("unsupported_media_type")
const internalError = errorResponse("internal_error")
const unavailable = errorResponse("unavailable")
const tooLate = errorResponse("unavailable", { message: "The service did not respond in time; retry shortly." })
const overloaded = errorResponse("unavailable", { message: "The service handles too many requests; retry shortly." })
const restarting = closing(errorResponse("unavailable", { message: "The service is restarting; retry shortly." }))
const unreadableBody = errorResponse("invalid_request", {
  message: "The request body could not be read; send the request again."
})

const logLate = ({ method, url }: HttpServerRequest.HttpServerRequest) =>
  Effect.as(Effect.logWarning(`${method} ${pathOf(url)} took too long`), tooLate)

/** The response to a failure that no handler mapped to one. */
const recover = <E>(
  cause: Cause.Cause<E>,
  { rejection = restarting, request }: RequestState
): Effect.Effect<Response, E> => {
  if (Cause.hasInterruptsOnly(cause)) {
    const isAbort = cause.reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))
    return isAbort ? Effect.failCause(cause) : Effect.succeed(rejection)
  }
  for (const reason of cause.reasons) {
    const problem = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (HttpServerError.isHttpServerError(problem)) {
      const known = responseTo(problem)
      if (known !== undefined) return Effect.succeed(known)
    }
  }
  // A connection that breaks inside a transaction is a defect in the driver.
  const isTransient = StorageError.findInCause("HttpServer", cause)?.isRetryable === true
  return Effect.as(
    Effect.logError(`${request.method} ${pathOf(request.url)} failed`, cause),
    isTransient ? unavailable : internalError
  )
}

const responseTo = ({ reason }: HttpServerError.HttpServerError): Response | undefined => {
  switch (reason._tag) {
    case "RouteNotFound":
      return noSuchRoute
    case "RequestParseError":
      return reason.reason === "BodyTooLarge" ? payloadTooLarge : unreadableBody
    default:
      return undefined
  }
}

/** The path without the query, which can contain a signature. */
const pathOf = (url: string) => url.split("?", 1)[0] ?? url
