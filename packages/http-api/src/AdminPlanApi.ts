/** The part of the operator API that is about plans. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AdminAccount } from "./AdminAccount.ts"
import {
  AdminCreditsSubscription,
  AdminStudioSubscription,
  SetCreditsPlanRequest,
  SetStudioPlanRequest,
  SubscribeCreditsRequest,
  SubscribeStudioRequest
} from "./AdminPlan.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { account, accountId } from "./internal/paths.ts"

/** Starts, changes, sets and ends plans. */
export class AdminPlans extends HttpApiGroup.make("plans").add(
  configure(
    "operator",
    "Set the Studio plan",
    "Replaces the current one.",
    ["account_deleted", "not_found"],
    (error) =>
      HttpApiEndpoint.put("setStudioPlan", `${account}/plans/studio`, {
        params: accountId,
        payload: SetStudioPlanRequest,
        success: AdminAccount,
        error
      })
  ),
  operate(
    "operator",
    "End the Studio plan",
    "Idempotent.",
    ["account_deleted", "not_found"],
    (error) =>
      HttpApiEndpoint.delete("endStudioPlan", `${account}/plans/studio`, {
        params: accountId,
        success: HttpApiSchema.NoContent,
        error
      })
  ),
  configure(
    "operator",
    "Set the Credits plan",
    "Replaces the current one. Grants no credits: grant those of the first period as a lot. A renewal grants its own.",
    ["account_deleted", "not_found"],
    (error) =>
      HttpApiEndpoint.put("setCreditsPlan", `${account}/plans/credits`, {
        params: accountId,
        payload: SetCreditsPlanRequest,
        success: AdminAccount,
        error
      })
  ),
  operate(
    "operator",
    "End the Credits plan",
    "Its credits stay. Idempotent.",
    ["account_deleted", "not_found"],
    (error) =>
      HttpApiEndpoint.delete("endCreditsPlan", `${account}/plans/credits`, {
        params: accountId,
        success: HttpApiSchema.NoContent,
        error
      })
  ),
  configure(
    "operator",
    "Subscribe to a Studio plan",
    "Starts a plan that is paid from the balance and renews. If a plan is active, changes its tier: to a tier that costs " +
      "as much or more at once, for a share of the difference, and to a cheaper one with the next period. Idempotent.",
    ["account_deleted", "insufficient_balance", "not_found"],
    (error) =>
      HttpApiEndpoint.put("subscribeStudio", `${account}/plans/studio/subscription`, {
        params: accountId,
        payload: SubscribeStudioRequest,
        success: AdminStudioSubscription,
        error
      })
  ),
  operate(
    "operator",
    "Stop the renewal of the Studio plan",
    "The plan ends with its period. Subscribing to its tier undoes it. Idempotent.",
    ["account_deleted", "not_found", "plan_not_active"],
    (error) =>
      HttpApiEndpoint.delete("stopStudioRenewal", `${account}/plans/studio/subscription`, {
        params: accountId,
        success: HttpApiSchema.NoContent,
        error
      })
  ),
  configure(
    "operator",
    "Subscribe to a Credits plan",
    "Like for Studio. Grants the credits of the period as a lot of kind `plan` that expires with it; for a higher tier, " +
      "a share of the difference.",
    ["account_deleted", "insufficient_balance", "not_found"],
    (error) =>
      HttpApiEndpoint.put("subscribeCredits", `${account}/plans/credits/subscription`, {
        params: accountId,
        payload: SubscribeCreditsRequest,
        success: AdminCreditsSubscription,
        error
      })
  ),
  operate(
    "operator",
    "Stop the renewal of the Credits plan",
    "The plan ends with its period. Subscribing to its tier undoes it. Idempotent.",
    ["account_deleted", "not_found", "plan_not_active"],
    (error) =>
      HttpApiEndpoint.delete("stopCreditsRenewal", `${account}/plans/credits/subscription`, {
        params: accountId,
        success: HttpApiSchema.NoContent,
        error
      })
  )
).annotate(OpenApi.Description, "Start, change, set and end plans.") {}
