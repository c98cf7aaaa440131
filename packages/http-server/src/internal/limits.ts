/** Which limit a request counts against, and how its response tells (D26). */
import { PlanTable } from "@kinora/accounts"
import type { Identity } from "@kinora/accounts/Identity"
import { bodyOf, TooManyRequests } from "@kinora/http-api/ApiError"
import type { Plan } from "@kinora/http-api/Scalar"
import type { RateLimit } from "@kinora/rate-limit"
import { Clock, DateTime, Effect } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { RequestState } from "./currentRequest.ts"

/** The limit of failed authentications of the client's address (D28). */
export const failedAuthentication = (state: RequestState, options: HttpServerOptions): RateLimit.Hit => ({
  key: `auth:${state.clientGroup}`,
  limit: options.failedAuthenticationsPerMinute
})

/** The limit of a key, all endpoints together. */
export const keyRequests = ({ keyId }: Identity, options: HttpServerOptions): RateLimit.Hit => ({
  key: `key:${keyId}`,
  limit: options.keyRequestsPerMinute
})

/** The creation limit of a plan group, by the account's tier in it. */
export const creation = (
  { account }: Identity,
  plan: Plan,
  options: HttpServerOptions,
  now: DateTime.Utc
): RateLimit.Hit => ({
  key: `create:${plan}:${account.id}`,
  limit: plan === "studio"
    ? PlanTable.limits(options.plans, "studio", account.plans.studio, now).createRpm
    : PlanTable.limits(options.plans, "credits", account.plans.credits, now).createRpm
})

/** What `details.scope` of a `rate_limited` says (D27). */
export type Scope = "key" | "plan" | "auth"

/** The refusal of a full minute. */
export const rateLimited = Effect.fnUntraced(
  function*(scope: Scope, { limit, resetsAt }: RateLimit.Verdict, plan: Plan | null) {
    const now = yield* Clock.currentTimeMillis
    return yield* new TooManyRequests({
      error: bodyOf("rate_limited", {
        plan,
        details: { scope },
        message: `${subjects[scope]} at ${limit} per minute; wait as long as Retry-After says.`
      }),
      retry: { afterMillis: Math.max(0, resetsAt.epochMilliseconds - now) },
      shouldRetry: true
    })
  }
)

const subjects = {
  key: "Requests with this API key are limited",
  plan: "Job creations of this plan group are limited",
  auth: "Failed authentications from this address are limited"
} as const

/**
 * The three headers. A limit that was not asked yet is looked at, without counting;
 * when even that fails the response goes out with what is known without storage.
 */
export const describe = (
  limit: RateLimit.Verdict | RateLimit.Hit,
  rateLimit: RateLimit.RateLimit["Service"]
): Effect.Effect<Record<string, string>> =>
  "accepted" in limit
    ? Effect.succeed(headersOf(limit))
    : rateLimit.peek(limit).pipe(
      Effect.map(headersOf),
      Effect.catch(() =>
        Effect.map(DateTime.now, (now) =>
          headersOf({
            limit: limit.limit,
            remaining: limit.limit,
            resetsAt: DateTime.add(DateTime.startOf(now, "minute"), { minutes: 1 })
          }))
      )
    )

const headersOf = (
  { limit, remaining, resetsAt }: Pick<RateLimit.Verdict, "limit" | "remaining" | "resetsAt">
): Record<string, string> => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(Math.floor(resetsAt.epochMilliseconds / 1000))
})
