/**
 * The direct way of the most frequent requests to their handler: those that read a job without waiting. It saves the
 * processor time of the router, the schemas and the middleware of the framework.
 *
 * The API declares and implements the endpoint like all others. Requests with a query use that way.
 */
import { Api } from "@kinora/http-api/Api"
import { Effect, Redacted } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
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
  const get = yield* Generations.makeGet(options)

  const find: Find = ({ headers, method, url }, { path }, { id }) => {
    if (method !== "GET" || path !== endpoint.path || id === undefined || url.includes("?")) return undefined
    return authenticated(get(id), bearerOf(headers["authorization"]) ?? noCredential, endpoint).pipe(
      Effect.withErrorReporting,
      Effect.catch((error) => Effect.sync(() => responseTo(error))),
      // The router makes handlers interruptible too.
      Effect.interruptible
    )
  }
  return find
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const endpoint = Api.groups.generations.endpoints.get
const noCredential = Redacted.make("")
