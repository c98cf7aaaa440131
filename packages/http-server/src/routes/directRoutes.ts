/**
 * Passes the most frequent requests to their handler without the router: those that create a job, and those that read one
 * without waiting. It saves the processor time of the router, the schemas and the middleware of the framework.
 *
 * The API declares and implements the endpoints like all others. The router handles requests with a query or an invalid
 * header.
 */
import { Api } from "@kinora/http-api/Api"
import { IdempotencyKey } from "@kinora/http-api/Scalar"
import { Effect, Redacted, Schema } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { Authentication, bearerOf } from "../middleware/authentication.ts"
import type { Route } from "../middleware/metrics.ts"
import { responseTo } from "../wire/errorResponse.ts"
import * as Generations from "./generations.ts"

/** Returns the effect that responds to a request, or `undefined` if the router has to. `params` are those of the path. */
export type Find = (
  request: HttpServerRequest.HttpServerRequest,
  route: Route,
  params: Readonly<Record<string, string | undefined>>
) => Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined

/** Leaves every request to the router. */
export const none: Find = () => undefined

/** Makes the routes. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { authenticated } = yield* Authentication
  const create = yield* Generations.makeCreate(options)
  const get = yield* Generations.makeGet(options)

  const find: Find = ({ headers, method, url }, { path }, { id }) => {
    if (url.includes("?")) return undefined
    const respond = <E extends Failure, R>(
      endpoint: HttpApiEndpoint.Top,
      handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) =>
      authenticated(handler, bearerOf(headers["authorization"]) ?? noCredential, endpoint).pipe(
        Effect.withErrorReporting,
        Effect.catch((error) => Effect.sync(() => responseTo(error))),
        // The router makes handlers interruptible too.
        Effect.interruptible
      )
    const key = headers["idempotency-key"]
    if (method === "GET" && path === endpoints.get.path && id !== undefined) return respond(endpoints.get, get(id))
    if (method === "POST" && path === endpoints.create.path && isKey(key)) return respond(endpoints.create, create(key))
    return undefined
  }
  return find
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const { endpoints } = Api.groups.generations
const isKey = Schema.is(Schema.UndefinedOr(IdempotencyKey))

type Failure = Parameters<typeof responseTo>[0]

const noCredential = Redacted.make("")
