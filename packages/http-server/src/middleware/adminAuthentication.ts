/** Authentication of operators. */
import { AdminAuth, CurrentOperator } from "@kinora/http-api/Access"
import { refuse } from "@kinora/http-api/ApiError"
import * as RequestPolicy from "@kinora/http-api/RequestPolicy"
import { Operators } from "@kinora/operators"
import { RateLimit } from "@kinora/rate-limit"
import { Effect, Layer, Redacted } from "effect"
import { Digest, Mac } from "effect/crypto"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Changes from "./changes.ts"
import { currentRequest, type RequestState } from "./currentRequest.ts"
import { makeCountFailure } from "./rateLimits.ts"
import { unavailable } from "./refusals.ts"
import * as RequestBodies from "./requestBodies.ts"
import * as SessionCookie from "./sessionCookie.ts"
import * as SessionOwner from "./sessionOwner.ts"

/**
 * `AdminAuth`: checks the token or the session, and the role, then limits the body. It compares the
 * digest of `KINORA_ADMIN_TOKEN` in constant time, so the duration reveals nothing about the
 * token, not even its length. This token does not need the database.
 */
export const layer = (options: HttpServerOptions, token: Redacted.Redacted) =>
  Layer.effect(
    AdminAuth,
    Effect.gen(function*() {
      const countFailure = makeCountFailure(yield* RateLimit.RateLimit, options)
      const { digest } = yield* Digest.Digest
      const digestOf = (token: Redacted.Redacted) =>
        digest(Digest.sha256, new TextEncoder().encode(Redacted.value(token)))
      const expected = yield* digestOf(token)

      const { find } = yield* SessionOwner.make(options)
      const provideAuditing = yield* Changes.makeProvide
      const operators = yield* Operators.Operators

      const reject = Effect.gen(function*() {
        yield* countFailure(yield* currentRequest)
        return yield* unauthorized
      }).pipe(Effect.catchTag("StorageError", unavailable))

      const authenticate = Effect.fnUntraced(function*(token: Redacted.Redacted) {
        if (Mac.timingSafeEqual(expected, yield* digestOf(token))) return owner
        const { id, role } = yield* operators.authenticate(token)
        return { actor: id as string, role }
      }, Effect.catchTags({ TokenRejected: () => reject, StorageError: unavailable }))

      const authenticateSession = Effect.fnUntraced(function*(state: RequestState) {
        if (!options.console || SessionCookie.tokenOf(state, options) === undefined) return yield* reject
        if (!SessionCookie.isPermitted(state, options)) return yield* refuse("cross_origin")
        const found = yield* find(state, "authenticate")
        return found?.owner._tag === "Operator" ? found.owner : yield* reject
      }, Effect.catchTag("StorageError", unavailable))

      return {
        bearer: Effect.fnUntraced(function*(app, { credential, endpoint }) {
          const state = yield* currentRequest
          const { actor, role: held } = state.request.headers["authorization"] === undefined
            ? yield* authenticateSession(state)
            : yield* authenticate(credential)
          const { role = "owner" } = RequestPolicy.of(endpoint)
          if (!RequestPolicy.permits(held, role)) return yield* refuse("role_missing", { details: { role } })
          const { bodyBytesMax } = options
          const limited = RequestBodies.limitSmall(app, state, { bodyBytesMax, endpoint, owner: actor })
          return yield* provideAuditing(limited, { actor, role: held }).pipe(
            Effect.provideService(CurrentOperator, { actor, role: held })
          )
        })
      }
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The operator that `KINORA_ADMIN_TOKEN` authenticates. */
const owner = { actor: "owner", role: "owner" } as const

const unauthorized = refuse("unauthorized", {
  message: "The operator's token is required; send the header Authorization: Bearer <token>."
})

/** Every runtime has it, but the types that declare it belong to a platform. */
declare const TextEncoder: new() => { readonly encode: (text: string) => Uint8Array<ArrayBuffer> }
