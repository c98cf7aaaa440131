/** Authentication by API key, by session and by signed URL. See docs/reference/http-api.md#authentication. */
import { Accounts, type KeyTerms } from "@kinora/accounts"
import { BearerAuth, ContentAuth, ContentReader, CurrentKey } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { RateLimit } from "@kinora/rate-limit"
import { UrlSigner } from "@kinora/storage"
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { filePathOf } from "../wire/generation.ts"
import * as Callers from "./callers.ts"
import { type Caller, CurrentIdentity, currentRequest, type RequestState } from "./currentRequest.ts"
import { callerId, makeCountFailure } from "./rateLimits.ts"
import { unavailable } from "./refusals.ts"
import * as RequestBodies from "./requestBodies.ts"
import * as SessionCookie from "./sessionCookie.ts"
import * as SessionOwner from "./sessionOwner.ts"

/** Authenticates requests with a key or a session. */
export class Authentication extends Context.Service<Authentication, Effect.Success<ReturnType<typeof make>>>()(
  "@kinora/http-server/Authentication"
) {
  static readonly layerWith = (options: HttpServerOptions) => Layer.effect(Authentication, make(options))
}

/** `BearerAuth`: see `Authentication`. */
export const layerBearer = Layer.effect(
  BearerAuth,
  Effect.map(Authentication, ({ authenticated }) => ({
    bearer: (app, { credential, endpoint }) => authenticated(app, credential, endpoint)
  }))
)

/**
 * `ContentAuth`: a valid signature is enough; without one, the key or the session counts. The second
 * scheme checks both, so the first one always leaves the decision to it.
 */
export const layerContent = (options: HttpServerOptions) =>
  Layer.effect(
    ContentAuth,
    Effect.gen(function*() {
      const { checkKey, countFailure } = yield* makeCheckKey(options)
      const checkSession = yield* makeCheckSession(options)
      const signer = yield* UrlSigner.UrlSigner

      return {
        bearer: () => unauthorized,
        signed: Effect.fnUntraced(function*(app, { endpoint }) {
          const state = yield* currentRequest
          const verdict = yield* checkSignature(signer, endpoint)
          if (verdict === "Valid") return yield* Effect.provideService(app, ContentReader, signedReader)

          const credential = bearerOf(state.request.headers["authorization"])
          const { scope } = RequestPolicy.of(endpoint)
          const identity = credential !== undefined
            ? yield* checkKey(credential, state, scope)
            : state.request.headers["authorization"] === undefined
            ? yield* checkSession(state, scope)
            : undefined
          if (identity !== undefined) {
            const reader = { account: identity.account.id, expiredAt: undefined }
            return yield* Effect.provideService(app, ContentReader, reader)
          }
          if (credential !== undefined || verdict === "Wrong" || verdict === "Absent") yield* countFailure(state)
          if (verdict !== "Expired") return yield* rejections[verdict]
          const expiredAt = yield* expiryOf
          return yield* Effect.provideService(app, ContentReader, { ...signedReader, expiredAt })
        })
      }
    })
  )

/**
 * Makes the function that counts a request that no endpoint handles: against the limit of
 * its key, or as a failed authentication if the key is wrong. Without a key, nothing counts.
 */
export const makeCountKey = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { checkKey, countFailure } = yield* makeCheckKey(options)
  return Effect.fnUntraced(function*(state: RequestState) {
    const credential = bearerOf(state.request.headers["authorization"])
    if (credential !== undefined && (yield* checkKey(credential, state, undefined)) === undefined) {
      yield* countFailure(state)
    }
  })
})

/** Makes the functions that authenticate by API key. */
export const makeCheckKey = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const accounts = yield* Accounts.Accounts
  const rateLimit = yield* RateLimit.RateLimit
  const countFailure = makeCountFailure(rateLimit, options)
  const check = Callers.makeCheck(rateLimit, options)

  /**
   * Returns the caller with a key, counted against its limit, if the key allows requests of this
   * scope from this client. Returns `undefined` for an unknown key.
   */
  const checkKey = Effect.fnUntraced(function*(
    credential: Redacted.Redacted,
    state: RequestState,
    scope: KeyTerms.Scope | undefined
  ) {
    const found = yield* accounts.authenticate(credential)
    if (Option.isNone(found)) return undefined
    const caller: Caller = { ...found.value, session: undefined }
    yield* check(caller, state, scope)
    return caller
  }, Effect.catchTag("StorageError", unavailable))

  return {
    checkKey,
    countFailure: (state: RequestState) => Effect.catchTag(countFailure(state), "StorageError", unavailable)
  }
})

/** The reader of a request with a valid signature. */
export const signedReader = { account: undefined, expiredAt: undefined }

/** Returns the token of a header such as `Bearer kin_…`, or `undefined`. */
export const bearerOf = (header: string | undefined): Redacted.Redacted | undefined => {
  const token = header === undefined ? undefined : /^bearer +(\S+) *$/i.exec(header)?.[1]
  return token === undefined ? undefined : Redacted.make(token)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { checkKey, countFailure } = yield* makeCheckKey(options)
  const checkSession = yield* makeCheckSession(options)
  const limitBody = yield* RequestBodies.make(options)

  /** Checks the key or the session, the account and the limit of the key, then limits the body. */
  const authenticated = Effect.fnUntraced(function*<E, R>(
    app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    credential: Redacted.Redacted,
    endpoint: HttpApiEndpoint.Top
  ) {
    const state = yield* currentRequest
    const { scope } = RequestPolicy.of(endpoint)
    const caller = state.request.headers["authorization"] === undefined
      ? yield* checkSession(state, scope)
      : yield* checkKey(credential, state, scope)
    if (caller === undefined) {
      yield* countFailure(state)
      return yield* unauthorized
    }
    const { account } = caller
    // One by one: `provideContext` would copy all services of the request.
    const identified = app.pipe(
      Effect.provideService(CurrentKey, { account: account.id, key: callerId(caller) }),
      Effect.provideService(CurrentIdentity, caller)
    )
    return yield* limitBody(identified, state.request, account.id, endpoint)
  })
  return { authenticated }
})

const unauthorized = refuse("unauthorized")

/** The error of each verdict on a signature if no key authenticates the request either. */
const rejections = {
  Absent: unauthorized,
  Wrong: refuse("invalid_signature"),
  Half: refuse("invalid_params", {
    message: "exp and sig must be sent together; use the URL of the job unchanged.",
    details: { issues: [{ path: "exp, sig", message: "must be sent together, once each" }] }
  })
}

/** Makes the function that authenticates by the session of an account. */
const makeCheckSession = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const { find } = yield* SessionOwner.make(options)
  const check = Callers.makeCheckSession(yield* RateLimit.RateLimit, options)

  /** Returns the caller with a session like `checkKey`. Returns `undefined` without a valid session of an account. */
  return Effect.fnUntraced(function*(state: RequestState, scope: KeyTerms.Scope | undefined) {
    if (!options.console || SessionCookie.tokenOf(state, options) === undefined) return undefined
    if (!SessionCookie.isPermitted(state, options)) return yield* refuse("cross_origin")
    const found = yield* find(state, "authenticate")
    const caller = found === undefined ? undefined : SessionOwner.callerOf(found)
    if (caller !== undefined) yield* check(caller, state, scope)
    return caller
  }, Effect.catchTag("StorageError", unavailable))
})

/** Verifies the signature in the query for the path of the file. */
const checkSignature = Effect.fnUntraced(
  function*(signer: UrlSigner.UrlSigner["Service"], endpoint: HttpApiEndpoint.Top) {
    const { exp, sig } = yield* HttpServerRequest.ParsedSearchParams
    if (exp === undefined && sig === undefined) return "Absent"
    if (typeof exp !== "string" || typeof sig !== "string") return "Half"
    const { id } = yield* HttpRouter.params
    return signer.verify(filePathOf(id ?? "", endpoint.identifier), { exp, sig }, yield* DateTime.now)
  }
)

/** When the pair in the query expires. It was verified, so it is a number of seconds. */
const expiryOf = Effect.map(
  HttpServerRequest.ParsedSearchParams,
  ({ exp }) => DateTime.makeUnsafe(Number(exp) * 1000)
)
