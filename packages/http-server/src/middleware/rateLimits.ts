/** The rate limits of requests and their headers. See docs/reference/http-api.md#rate-limits. */
import { PlanTable } from "@kinora/accounts"
import { refuse } from "@kinora/http-api/ApiError"
import type { Plan } from "@kinora/http-api/Scalar"
import type { RateLimit } from "@kinora/rate-limit"
import { DateTime, Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { Caller, RequestState } from "./currentRequest.ts"
import type { RequestBudget } from "./requestBudget.ts"

/** The limit of failed authentications of the client's address. */
export const failedAuthentications = (state: RequestState, options: HttpServerOptions): RateLimit.Hit => ({
  key: `auth:${state.clientGroup}`,
  limit: options.failedAuthenticationsPerMinute
})

/** The id that the limits of a caller count under: of the key, with the sessions that were created with it, or else of the session. */
export const callerId = ({ keyId, session }: Caller): string => keyId ?? session ?? "unknown"

/** The limit of a key or a session, over all endpoints. */
export const callerRequests = (caller: Caller, options: HttpServerOptions): RateLimit.Hit => ({
  key: `key:${callerId(caller)}`,
  limit: options.keyRequestsPerMinute,
  mayWait: true
})

/** The limit of a session of an operator. */
export const sessionRequests = (session: string, options: HttpServerOptions): RateLimit.Hit => ({
  key: `key:${session}`,
  limit: options.keyRequestsPerMinute,
  mayWait: true
})

/** The creation limit of a plan group, which depends on the account's tier. */
export const creations = (
  { account }: Caller,
  plan: Plan,
  options: HttpServerOptions,
  now: DateTime.Utc
): RateLimit.Hit => ({
  key: `create:${plan}:${account.id}`,
  mayWait: true,
  limit: plan === "studio"
    ? PlanTable.limits(options.plans, "studio", account.plans.studio, now).createRpm
    : PlanTable.limits(options.plans, "credits", account.plans.credits, now).createRpm
})

/** Counts a failed authentication of the client's address. Fails if there were too many. */
export const makeCountFailure = (rateLimit: RateLimit.RateLimit["Service"], options: HttpServerOptions) =>
  Effect.fnUntraced(function*(state: RequestState) {
    const verdict = yield* rateLimit.hit(failedAuthentications(state, options))
    state.limit = verdict
    if (!verdict.accepted) return yield* rateLimited("auth", verdict, null)
  })

/** Rejects a request because a limit per minute is reached. */
export const rateLimited = (
  scope: keyof typeof subjects,
  { at, limit, resetsAt }: RateLimit.Verdict,
  plan: Plan | null
) =>
  refuse("rate_limited", {
    plan,
    details: { scope },
    message: `${subjects[scope]} are limited to ${limit} per minute; retry after the time in Retry-After.`,
    retryAfterMillis: resetsAt.epochMilliseconds - at.epochMilliseconds
  })

/** Reads the limit that the response of a handler describes, unless the handler hit it. Returns the response. */
export const readLimit =
  (state: RequestState, rateLimit: RateLimit.RateLimit["Service"]) => <A>(response: A): Effect.Effect<A> => {
    const { limit } = state
    if (limit === undefined || "accepted" in limit) return Effect.succeed(response)
    const read = Effect.map(rateLimit.peek(limit), (verdict) => {
      state.limit = verdict
    })
    return Effect.as(Effect.ignore(read), response)
  }

/**
 * Returns the three headers of a limit. A limit that was not hit is read without
 * counting; if that fails or takes too long, the headers report it as unused.
 */
export const describe = (
  limit: RateLimit.Verdict | RateLimit.Hit,
  rateLimit: RateLimit.RateLimit["Service"],
  { within }: RequestBudget
): Effect.Effect<Record<string, string>> => {
  if ("accepted" in limit) return Effect.succeed(headersOf(limit))
  const unused = Effect.map(DateTime.now, (now) =>
    headersOf({
      limit: limit.limit,
      remaining: limit.limit,
      resetsAt: DateTime.add(DateTime.startOf(now, "minute"), { minutes: 1 })
    }))
  return within(
    rateLimit.peek(limit).pipe(Effect.map(headersOf), Effect.catch(() => unused)),
    unused
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const subjects = {
  key: "Requests with this API key or session",
  plan: "Job creations of this plan group",
  auth: "Failed authentications from this address"
} as const

const headersOf = (
  { limit, remaining, resetsAt }: Pick<RateLimit.Verdict, "limit" | "remaining" | "resetsAt">
): Record<string, string> => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(Math.floor(resetsAt.epochMilliseconds / 1000))
})
