/** Plans in the admin API. */
import { Schema } from "effect"
import { field, flag, int, nullable, object, optional, requestTime, time } from "./internal/fields.ts"

/** The tiers of the Studio group. */
export const StudioTier = Schema.Literals(["starter", "pro", "scale"])
/** The tiers of the Credits group. */
export const CreditsTier = Schema.Literals(["starter", "pro", "business"])

const planOf = <Tier extends Schema.Codec<string>>(identifier: string, description: string, tier: Tier) =>
  object(identifier, description, {
    tier: field(tier, "The tier."),
    period_end: time("When the period ends. A plan whose period has ended is inactive."),
    auto_renew: flag("Whether the plan renews from the balance at the end of its period."),
    next_tier: nullable(tier, "The tier with which the plan renews, if it is another one.")
  })

const planRequestOf = <Tier extends Schema.Codec<string>>(identifier: string, description: string, tier: Tier) =>
  object(identifier, description, {
    tier: field(tier, "The tier."),
    period_end: requestTime("When the period ends."),
    auto_renew: optional(Schema.Boolean, "Whether the plan renews from the balance. Default: false.")
  })

/** A Studio plan. */
export const AdminStudioPlan = planOf("AdminStudioPlan", "A Studio plan.", StudioTier)
/** A Credits plan. */
export const AdminCreditsPlan = planOf("AdminCreditsPlan", "A Credits plan.", CreditsTier)

/** Sets the Studio plan of an account. */
export const SetStudioPlanRequest = planRequestOf("SetStudioPlanRequest", "The Studio plan to set.", StudioTier)

/** Sets the Credits plan of an account. */
export const SetCreditsPlanRequest = planRequestOf("SetCreditsPlanRequest", "The Credits plan to set.", CreditsTier)

const subscriptionRequestOf = <Tier extends Schema.Codec<string>>(identifier: string, tier: Tier) =>
  object(identifier, "The subscription to start or to change.", { tier: field(tier, "The tier.") })

/** Subscribes an account to a tier of the Studio group. */
export const SubscribeStudioRequest = subscriptionRequestOf("SubscribeStudioRequest", StudioTier)
/** Subscribes an account to a tier of the Credits group. */
export const SubscribeCreditsRequest = subscriptionRequestOf("SubscribeCreditsRequest", CreditsTier)

/** The change that a subscription makes. */
export const SubscriptionOutcome = Schema.Literals(["started", "raised", "scheduled", "continued"])
/** Type of `SubscriptionOutcome`. */
export type SubscriptionOutcome = typeof SubscriptionOutcome.Type

const subscriptionOf = <Plan extends Schema.Top>(identifier: string, plan: Plan) =>
  object(identifier, "A subscription that was started or changed.", {
    outcome: field(
      SubscriptionOutcome,
      "`started`: a period has started. `raised`: the higher tier applies to the rest of the period. `scheduled`: the " +
        "lower tier applies from the next period on. `continued`: the plan has the tier already, and renews with it."
    ),
    usd_cents: int("What was taken from the balance, in US cents."),
    credits: int("The credits that were granted until the end of the period."),
    plan: field(plan, "The plan.")
  })

/** A subscription to a Studio plan. */
export const AdminStudioSubscription = subscriptionOf("AdminStudioSubscription", AdminStudioPlan)
/** A subscription to a Credits plan. */
export const AdminCreditsSubscription = subscriptionOf("AdminCreditsSubscription", AdminCreditsPlan)
