/** Plans of an account: at most one in each group, valid until the end of its period. */
import { DateTime, Option, Schema } from "effect"

/** The two independent groups of plans. A job is charged to one of them. */
export const PlanGroup = Schema.Literals(["studio", "credits"])
/** Type of `PlanGroup`. */
export type PlanGroup = typeof PlanGroup.Type

/** Tiers of the studio group. */
export const StudioTier = Schema.Literals(["starter", "pro", "scale"])
/** Type of `StudioTier`. */
export type StudioTier = typeof StudioTier.Type

/** Tiers of the credits group. */
export const CreditsTier = Schema.Literals(["starter", "pro", "business"])
/** Type of `CreditsTier`. */
export type CreditsTier = typeof CreditsTier.Type

/** A plan of one group. It may have ended; `active` checks that. */
export interface Plan<Tier extends string> {
  readonly tier: Tier
  /** End of the period, exclusive. */
  readonly periodEnd: DateTime.Utc
  /** Whether the plan renews at the end of the period. */
  readonly autoRenew: boolean
  /** The tier with which the plan renews, if it is another one. */
  readonly nextTier?: Tier | undefined
}

/** The tiers of each group. */
export interface Tiers {
  readonly studio: StudioTier
  readonly credits: CreditsTier
}

/** The plan of each group. */
export type Plans = { readonly [Group in PlanGroup]: Option.Option<Plan<Tiers[Group]>> }

/** No plan in either group: the free level. */
export const none: Plans = { studio: Option.none(), credits: Option.none() }

/** Returns the plan unless its period has ended by `now`. */
export const active = <Tier extends string>(
  plan: Option.Option<Plan<Tier>>,
  now: DateTime.Utc
): Option.Option<Plan<Tier>> => Option.filter(plan, (plan) => DateTime.isGreaterThan(plan.periodEnd, now))
