/** The client of the operator API. */
import { Access, AdminApi, ApiError } from "@kinora/http-api"
import { Cause, Effect, Option, Schema, Terminal } from "effect"
import { CliError } from "effect/cli"
import { HttpClientError, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import * as Connection from "./Connection.ts"

/** The operations of the operator API, by group. */
export type Operator = Effect.Success<typeof connect>

/** Connects to the operator API of this command's service. */
export const connect = Effect.gen(function*() {
  const { adminToken, adminUrl } = yield* Connection.load
  if (Option.isNone(adminToken)) {
    return yield* Connection.fail(
      "The operator's token is missing; set KINORA_ADMIN_TOKEN, or admin_token in a profile, to the one of the service or " +
        "to the token of an operator."
    )
  }
  const authenticate = HttpApiMiddleware.layerClient(
    Access.AdminAuth,
    ({ next, request }) => next(HttpClientRequest.bearerToken(request, adminToken.value))
  )
  return yield* Effect.provide(HttpApiClient.make(AdminApi.AdminApi, { baseUrl: adminUrl }), authenticate)
})

/** Turns the failures of a call into messages for people. */
export const explained = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, CliError.UserError, R> =>
  Effect.catchCause(effect, (cause) => {
    const error = Cause.squash(cause)
    // Ctrl-C in a question ends the command like anywhere else.
    if (Cause.hasInterruptsOnly(cause) || Terminal.isQuitError(error)) return Effect.interrupt
    return Effect.fail(error instanceof CliError.UserError ? error : Connection.fail(messageOf(error), error))
  })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const messageOf = (error: unknown): string => {
  if (ApiError.isApiError(error)) return `${error.message} (${error._tag})`
  if (HttpClientError.isHttpClientError(error)) {
    const { request: { url }, response } = error
    if (response === undefined) {
      return `The service at ${url} does not respond; check the URL, and that the service runs.`
    }
    // A path of the operator API that exists returns an error of this API.
    if (response.status === 404) {
      const { origin } = new URL(url)
      return `There is no operator API at ${origin}; set KINORA_ADMIN_URL, or admin_url of the profile, to the address ` +
        "that the server prints as Operator."
    }
    return `The response is not one of a Kinora service (HTTP ${response.status}); check the URL.`
  }
  if (Schema.isSchemaError(error)) return "The response is not one of a Kinora service of this version; check the URL."
  return error instanceof Error ? error.message : String(error)
}
