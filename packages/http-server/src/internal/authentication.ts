/** Whose request it is, and whether it may come: keys, signed pairs, and their limits. */
import { Accounts } from "@kinora/accounts"
import type { Identity } from "@kinora/accounts/Identity"
import { BearerAuth, ContentAuth, ContentReader, CurrentKey } from "@kinora/http-api/Access"
import { BadRequest, bodyOf, Forbidden, Unauthorized } from "@kinora/http-api/ApiError"
import { RateLimit } from "@kinora/rate-limit"
import { UrlSigner } from "@kinora/storage"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Bodies from "./bodies.ts"
import { currentRequest, type RequestState } from "./currentRequest.ts"
import { filePathOf } from "./generationView.ts"
import { failedAuthentication, keyRequests, rateLimited } from "./limits.ts"
import { unavailable } from "./refusals.ts"

/** `BearerAuth`: key, account, limit of the key, then the size of the body (D13). */
export const layerBearer = (options: HttpServerOptions) =>
  Layer.effect(
    BearerAuth,
    Effect.gen(function*() {
      const { checkKey, countFailure } = yield* makeCheckKey(options)
      const limitBody = Bodies.make(options)

      return {
        bearer: Effect.fnUntraced(function*(app, { credential, endpoint, group }) {
          const state = yield* currentRequest
          const identity = yield* checkKey(credential, state)
          if (identity === undefined) {
            yield* countFailure(state)
            return yield* unauthorized
          }
          const { account, keyId } = identity
          return yield* limitBody(
            Effect.provideService(app, CurrentKey, { account: account.id, key: keyId }),
            state.request,
            account.id,
            `${group.identifier}.${endpoint.identifier}`
          )
        })
      }
    })
  )

/**
 * `ContentAuth`: a good pair alone is enough, else the key counts (D32). Both are
 * weighed together, so the first scheme leaves the decision to the last.
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
          const verdict = yield* checkPair(signer, endpoint)
          if (verdict === "Valid") return yield* Effect.provideService(app, ContentReader, { account: undefined })

          const credential = bearerOf(state.request.headers["authorization"])
          const identity = credential === undefined ? undefined : yield* checkKey(credential, state)
          if (identity !== undefined) {
            return yield* Effect.provideService(app, ContentReader, { account: identity.account.id })
          }
          if (credential !== undefined || verdict === "Wrong" || verdict === "Absent") yield* countFailure(state)
          return yield* refusals[verdict]
        })
      }
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const unauthorized = Effect.fail(new Unauthorized({ error: bodyOf("unauthorized") }))
const accountSuspended = Effect.fail(new Forbidden({ error: bodyOf("account_suspended") }))

/** Why a pair did not open the file, when no key did either. */
const refusals = {
  Absent: unauthorized,
  Wrong: Effect.fail(new Unauthorized({ error: bodyOf("invalid_signature") })),
  Expired: Effect.fail(new Forbidden({ error: bodyOf("signature_expired") })),
  Half: Effect.fail(
    new BadRequest({
      error: bodyOf("invalid_params", {
        message: "exp and sig go together; use the URL of the job as it is.",
        details: { issues: [{ path: "exp, sig", message: "must be given together, once each" }] }
      })
    })
  )
}

const makeCheckKey = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const accounts = yield* Accounts.Accounts
  const rateLimit = yield* RateLimit.RateLimit

  /** Whose key it is, counted against its limit; `undefined` for nobody's. */
  const checkKey = Effect.fnUntraced(function*(credential: Redacted.Redacted, state: RequestState) {
    const found = yield* accounts.authenticate(credential)
    if (Option.isNone(found)) return undefined
    const identity: Identity = found.value
    const verdict = yield* rateLimit.hit(keyRequests(identity, options))
    state.identity = identity
    state.limit = verdict
    if (!verdict.accepted) return yield* rateLimited("key", verdict, null)
    if (identity.account.status === "suspended") return yield* accountSuspended
    return identity
  }, Effect.catchTag("StorageError", unavailable))

  /** Counts a failed attempt of the client's address, and refuses when there were too many (D28). */
  const countFailure = Effect.fnUntraced(function*(state: RequestState) {
    const verdict = yield* rateLimit.hit(failedAuthentication(state, options))
    state.limit = verdict
    if (!verdict.accepted) return yield* rateLimited("auth", verdict, null)
  }, Effect.catchTag("StorageError", unavailable))

  return { checkKey, countFailure }
})

/** What the pair in the query is worth for the path of this file. */
const checkPair = Effect.fnUntraced(function*(signer: UrlSigner.UrlSigner["Service"], endpoint: HttpApiEndpoint.Top) {
  const { exp, sig } = yield* HttpServerRequest.ParsedSearchParams
  if (exp === undefined && sig === undefined) return "Absent"
  if (typeof exp !== "string" || typeof sig !== "string") return "Half"
  const { id } = yield* HttpRouter.params
  return signer.verify(filePathOf(id ?? "", endpoint.identifier), { exp, sig }, yield* DateTime.now)
})

const bearerOf = (header: string | undefined): Redacted.Redacted | undefined => {
  const token = header === undefined ? undefined : /^bearer +(\S+) *$/i.exec(header)?.[1]
  return token === undefined ? undefined : Redacted.make(token)
}
