/** Checks of callers after they are authenticated: the limits of their requests, and the terms of their key. */
import { KeyTerms } from "@kinora/accounts"
import { make, refuse } from "@kinora/http-api/ApiError"
import type { RateLimit } from "@kinora/rate-limit"
import { DateTime, Effect, Option } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { Caller, RequestState } from "./currentRequest.ts"
import { callerRequests, rateLimited } from "./rateLimits.ts"
import * as RequestBudget from "./requestBudget.ts"

/** Makes the function that counts a request against the limits of its caller, and checks whether the caller may send it. */
export const makeCheck = (rateLimit: RateLimit.RateLimit["Service"], options: HttpServerOptions) =>
  Effect.fnUntraced(function*(caller: Caller, state: RequestState, scope: KeyTerms.Scope | undefined) {
    // Before the first statement, which can be what the requests of an account wait for. An operator who views the account
    // takes none of its places.
    if (caller.isView !== true && !state.budget.claim(caller.account.id)) {
      state.budget = RequestBudget.exhausted
      return yield* tooManyAtOnce
    }
    const verdict = yield* rateLimit.hit(callerRequests(caller, options))
    state.limit = verdict
    if (!verdict.accepted) return yield* rateLimited("key", verdict, null)
    if (caller.account.status !== "active") return yield* accountSuspended
    const { session, terms } = caller
    if (terms === KeyTerms.unrestricted) return
    if (Option.isSome(terms.expiresAt) && KeyTerms.hasExpired(terms, yield* DateTime.now)) {
      return yield* refuse("key_expired", { details: { expired_at: terms.expiresAt.value } })
    }
    if (!KeyTerms.hasAddress(terms, state.request.remoteAddress)) return yield* addressNotAllowed
    if (scope === undefined || KeyTerms.hasScope(terms, scope)) return
    return yield* refuse("scope_missing", {
      details: { scope },
      message: session === undefined ? undefined : "The session does not allow this request; sign in with other rights."
    })
  })

/** `makeCheck` for sessions: a change by an operator who views the account gets `view_only`. */
export const makeCheckSession = (rateLimit: RateLimit.RateLimit["Service"], options: HttpServerOptions) => {
  const check = makeCheck(rateLimit, options)
  return (caller: Caller, state: RequestState, scope: KeyTerms.Scope | undefined) =>
    Effect.catchTag(
      check(caller, state, scope),
      "scope_missing",
      (error) => Effect.fail(caller.isView === true ? make("view_only") : error)
    )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const tooManyAtOnce = refuse("unavailable", {
  message: "The service handles too many requests of the account; retry shortly."
})
const accountSuspended = refuse("account_suspended")
const addressNotAllowed = refuse("address_not_allowed")
