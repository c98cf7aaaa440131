/** Rules of renewal as pure functions. */
import { DateTime, Option } from "effect"
import type { Plan, PlanGroup, Tiers } from "./Plan.ts"
import { type PlanTable, termsOf } from "./PlanTable.ts"

/**
 * Time before the end of a period at which a plan is renewed, so that it has no gap. A
 * renewal that cannot be paid is tried again until the end.
 */
export const leadSeconds = 60

/** Decision about a plan. */
export type Decision<Group extends PlanGroup> =
  /** The period continues, or the renewal cannot be paid yet. */
  | { readonly _tag: "Kept" }
  /** The plan has ended: it does not renew, or the balance is too low. */
  | { readonly _tag: "Lapsed" }
  /** The plan is paid for another period. */
  | Renewed<Group>

/** A plan that is paid for another period. */
export interface Renewed<Group extends PlanGroup> {
  readonly _tag: "Renewed"
  readonly plan: Plan<Tiers[Group]>
  readonly priceCents: number
  /** Credits to grant for the period. 0 in a group with a quota. */
  readonly credits: number
}

/** Decides about the plan of a group at `now`, with this balance. */
export const decide = <Group extends PlanGroup>(
  group: Group,
  plan: Option.Option<Plan<Tiers[Group]>>,
  balanceCents: number,
  table: PlanTable,
  now: DateTime.Utc
): Decision<Group> => {
  if (Option.isNone(plan)) return kept
  const { autoRenew, nextTier, periodEnd } = plan.value
  const tier = nextTier ?? plan.value.tier
  const isOver = DateTime.isLessThanOrEqualTo(periodEnd, now)
  const isDue = DateTime.isLessThanOrEqualTo(periodEnd, DateTime.add(now, { seconds: leadSeconds }))
  if (!isDue) return kept
  const { credits, priceCents } = termsOf(table, group, tier)
  if (!autoRenew || priceCents > balanceCents) return isOver ? lapsed : kept
  const plainEnd = DateTime.add(periodEnd, { days: table.periodDays })
  // A period that has passed completely without a renewal is not charged.
  const end = DateTime.isGreaterThan(plainEnd, now) ? plainEnd : DateTime.add(now, { days: table.periodDays })
  return { _tag: "Renewed", plan: { tier, autoRenew, periodEnd: end }, priceCents, credits }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const kept = { _tag: "Kept" } as const
const lapsed = { _tag: "Lapsed" } as const
