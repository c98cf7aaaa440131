/**
 * Passes the most frequent requests to their handler without the router: those that create a job, those that read one
 * without waiting, and downloads through signed URLs. It saves the processor time of the router, the schemas and the middleware of the framework.
 *
 * The API declares and implements the endpoints like all others. The router handles requests with another query, an
 * invalid header or an invalid signature.
 */
import type { File } from "@kinora/generations/Generation"
import { Api } from "@kinora/http-api/Api"
import { IdempotencyKey } from "@kinora/http-api/Scalar"
import { UrlSigner } from "@kinora/storage"
import { type Clock, DateTime, Effect, Redacted, Schema, type Scope } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { Authentication, bearerOf, signedReader } from "../middleware/authentication.ts"
import { currentRequest } from "../middleware/currentRequest.ts"
import type { Route } from "../middleware/metrics.ts"
import { failedAuthentications } from "../middleware/rateLimits.ts"
import { responseTo } from "../wire/errorResponse.ts"
import { filePathOf } from "../wire/generation.ts"
import * as Content from "./content.ts"
import * as Generations from "./generations.ts"

/** Returns the effect that responds to a request, or `undefined` if the router has to. `params` are those of the path. */
export type Find = (
  request: HttpServerRequest.HttpServerRequest,
  route: Route,
  params: Readonly<Record<string, string | undefined>>,
  clock: Clock.Clock
) =>
  | Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest | Scope.Scope>
  | undefined

/** Leaves every request to the router. */
export const none: Find = () => undefined

/** Makes the routes. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { authenticated } = yield* Authentication
  const create = yield* Generations.makeCreate(options)
  const get = yield* Generations.makeGet(options)

  const serve = yield* Content.makeServe(options)
  const isValid = yield* makeIsValid
  const files = new Map(
    Object.values(Api.groups.content.endpoints).map(({ identifier, path }) =>
      [path as string, { file: identifier, serve: serve(identifier) }] as const
    )
  )

  /** Returns the effect that responds to a download through a signed URL. */
  const download = (
    request: HttpServerRequest.HttpServerRequest,
    path: string,
    id: string,
    clock: Clock.Clock
  ) => {
    const found = files.get(path)
    if (found === undefined || !isValid(request.url, id, found.file, clock)) return undefined
    return respondTo(Effect.flatMap(currentRequest, (state) => {
      // Read within the time of the request, as for all handlers.
      state.limit = failedAuthentications(state, options)
      return found.serve({ reader: signedReader, request, params: { id }, query: {} })
    }))
  }

  const find: Find = (request, { path }, { id }, clock) => {
    const { headers, method, url } = request
    if (url.includes("?")) return method === "GET" && id !== undefined ? download(request, path, id, clock) : undefined
    const respond = <E extends Failure, R>(
      endpoint: HttpApiEndpoint.Top,
      handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
    ) => respondTo(authenticated(handler, bearerOf(headers["authorization"]) ?? noCredential, endpoint))
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

const respondTo = <E extends Failure, R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  handler.pipe(
    Effect.withErrorReporting,
    Effect.catch((error) => Effect.sync(() => responseTo(error))),
    // The router makes handlers interruptible too.
    Effect.interruptible
  )

const { endpoints } = Api.groups.generations
const isKey = Schema.is(Schema.UndefinedOr(IdempotencyKey))

type Failure = Parameters<typeof responseTo>[0]

/** The target of a signed URL as the job has it. */
const signedPattern = /^[^?]*\?exp=(\d{1,12})&sig=([\w-]{43})$/

/**
 * Makes the function that verifies the signature in a request target for a file of a job. It remembers valid targets, since
 * players ask for one range after the other.
 */
const makeIsValid = Effect.map(UrlSigner.UrlSigner, ({ verify }) => {
  /** When each target expires, in Unix seconds. */
  const valid = new Map<string, number>()

  return (url: string, id: string, file: File, clock: Clock.Clock): boolean => {
    const now = DateTime.makeUnsafe(clock.currentTimeMillisUnsafe())
    const expiry = valid.get(url)
    if (expiry !== undefined && Math.floor(now.epochMilliseconds / 1000) < expiry) return true
    const [, exp, sig] = signedPattern.exec(url) ?? []
    if (exp === undefined || sig === undefined) return false
    if (verify(filePathOf(id, file), { exp, sig }, now) !== "Valid") return false
    // The first one is the oldest.
    const [oldest] = valid.keys()
    if (valid.size >= validMax && oldest !== undefined) valid.delete(oldest)
    valid.set(url, Number(exp))
    return true
  }
})

/** Targets that are remembered. */
const validMax = 1_000

const noCredential = Redacted.make("")
