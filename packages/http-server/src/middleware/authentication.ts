/** Authentication by API key and by signed URL. See docs/reference/http-api.md#authentication. */
import { Accounts, KeyTerms } from "@kinora/accounts"
import type { Identity } from "@kinora/accounts/Identity"
import { BearerAuth, ContentAuth, ContentReader, CurrentKey } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { RateLimit } from "@kinora/rate-limit"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { filePathOf } from "../wire/generation.ts"
import { CurrentIdentity, currentRequest, type RequestState } from "./currentRequest.ts"
import { keyRequests, makeCountFailure, rateLimited } from "./rateLimits.ts"
import { unavailable } from "./refusals.ts"
import * as RequestBodies from "./requestBodies.ts"

/** `BearerAuth`: checks the key, the account and the limit of the key, then limits the body. */
export const layerBearer = (options: HttpServerOptions) =>
  Layer.effect(
    BearerAuth,
    Effect.gen(function*() {
      const { checkKey, countFailure } = yield* makeCheckKey(options)
      const limitBody = yield* RequestBodies.make(options)

      return {
        bearer: Effect.fnUntraced(function*(app, { credential, endpoint }) {
          const state = yield* currentRequest
          const identity = yield* checkKey(credential, state, RequestPolicy.of(endpoint).scope)
          if (identity === undefined) {
            yield* countFailure(state)
            return yield* unauthorized
          }
          const { account, keyId } = identity
          // One by one: `provideContext` would copy all services of the request.
          const authenticated = app.pipe(
            Effect.provideService(CurrentKey, { account: account.id, key: keyId }),
            Effect.provideService(CurrentIdentity, identity)
          )
          return yield* limitBody(authenticated, state.request, account.id, endpoint)
        })
      }
    })
  )

/**
 * `ContentAuth`: a valid signature is enough; without one, the key counts. The second
 * scheme checks both, so the first one always leaves the decision to it.
 */
export const layerContent = (options: HttpServerOptions) =>
  Layer.effect(
    ContentAuth,
    Effect.gen(function*() {
      const { checkKey, countFailure } = yield* makeCheckKey(options)
      const signer = yield* UrlSigner.UrlSigner

      return {
        bearer: () => unauthorized,
        signed: Effect.fnUntraced(function*(app, { endpoint }) {
          const state = yield* currentRequest
          const verdict = yield* checkSignature(signer, endpoint)
          if (verdict === "Valid") return yield* Effect.provideService(app, ContentReader, signedReader)

          const credential = bearerOf(state.request.headers["authorization"])
          const { scope } = RequestPolicy.of(endpoint)
          const identity = credential === undefined ? undefined : yield* checkKey(credential, state, scope)
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

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unauthorized = refuse("unauthorized")
const accountSuspended = refuse("account_suspended")
const addressNotAllowed = refuse("address_not_allowed")

const signedReader = { account: undefined, expiredAt: undefined }

/** The error of each verdict on a signature if no key authenticates the request either. */
const rejections = {
  Absent: unauthorized,
  Wrong: refuse("invalid_signature"),
  Half: refuse("invalid_params", {
    message: "exp and sig must be sent together; use the URL of the job unchanged.",
    details: { issues: [{ path: "exp, sig", message: "must be sent together, once each" }] }
  })
}

const makeCheckKey = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const accounts = yield* Accounts.Accounts
  const rateLimit = yield* RateLimit.RateLimit
  const countFailure = makeCountFailure(rateLimit, options)

  /**
   * Returns the identity of a key, counted against its limit, if the key allows requests of this
   * scope from this client. Returns `undefined` for an unknown key.
   */
  const checkKey = Effect.fnUntraced(function*(
    credential: Redacted.Redacted,
    state: RequestState,
    scope: KeyTerms.Scope | undefined
  ) {
    const found = yield* accounts.authenticate(credential)
    if (Option.isNone(found)) return undefined
    const identity: Identity = found.value
    const verdict = yield* rateLimit.hit(keyRequests(identity, options))
    state.limit = verdict
    if (!verdict.accepted) return yield* rateLimited("key", verdict, null)
    if (identity.account.status !== "active") return yield* accountSuspended
    const { terms } = identity
    if (terms !== KeyTerms.unrestricted) yield* checkTerms(terms, state, scope)
    return identity
  }, Effect.catchTag("StorageError", unavailable))

  return {
    checkKey,
    countFailure: (state: RequestState) => Effect.catchTag(countFailure(state), "StorageError", unavailable)
  }
})

const checkTerms = Effect.fnUntraced(function*(
  terms: KeyTerms.KeyTerms,
  { request }: RequestState,
  scope: KeyTerms.Scope | undefined
) {
  if (Option.isSome(terms.expiresAt) && KeyTerms.hasExpired(terms, yield* DateTime.now)) {
    return yield* refuse("key_expired", { details: { expired_at: terms.expiresAt.value } })
  }
  if (!KeyTerms.hasAddress(terms, request.remoteAddress)) return yield* addressNotAllowed
  if (scope !== undefined && !KeyTerms.hasScope(terms, scope)) {
    return yield* refuse("scope_missing", { details: { scope } })
  }
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

const bearerOf = (header: string | undefined): Redacted.Redacted | undefined => {
  const token = header === undefined ? undefined : /^bearer +(\S+) *$/i.exec(header)?.[1]
  return token === undefined ? undefined : Redacted.make(token)
}
