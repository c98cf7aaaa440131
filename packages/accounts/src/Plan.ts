/** An account's plans: at most one in each group, until its period ends (D25). */
import { DateTime, Option, Schema } from "effect"

/** The two independent groups that a job can be charged to. */
export const PlanGroup = Schema.Literals(["studio", "credits"])
/** See the schema of the same name. */
export type PlanGroup = typeof PlanGroup.Type

/** Tiers of the studio group. */
export const StudioTier = Schema.Literals(["starter", "pro", "scale"])
/** See the schema of the same name. */
export type StudioTier = typeof StudioTier.Type

/** Tiers of the credits group. */
export const CreditsTier = Schema.Literals(["starter", "pro", "business"])
/** See the schema of the same name. */
export type CreditsTier = typeof CreditsTier.Type

/** What an account has in one group. It may have ended: ask `active`. */
export interface Plan<Tier extends string> {
  readonly tier: Tier
  /** The plan counts until this moment, not at it. */
  readonly periodEnd: DateTime.Utc
  /** Whether the plan is to be paid and go on when the period ends. */
  readonly autoRenew: boolean
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

/** The plan, unless its period has ended by `now`. */
export const active = <Tier extends string>(
  plan: Option.Option<Plan<Tier>>,
  now: DateTime.Utc
): Option.Option<Plan<Tier>> => Option.filter(plan, (plan) => DateTime.isGreaterThan(plan.periodEnd, now))
