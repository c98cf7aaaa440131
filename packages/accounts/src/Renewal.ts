/** What happens to a plan when its period ends (D25). Pure. */
import { DateTime, Option } from "effect"
import type { Plan, PlanGroup, Tiers } from "./Plan.ts"
import type { PlanTable } from "./PlanTable.ts"

/**
 * How long before its end a plan is paid that goes on, so that it has no gap. What
 * cannot be paid yet is tried again until the end.
 */
export const leadSeconds = 60

/** What is to be done with a plan. */
export type Decision<Group extends PlanGroup> =
  /** Its period goes on, or it cannot be paid yet. */
  | { readonly _tag: "Kept" }
  /** It ends: nobody wants it to go on, or the balance does not pay for it. */
  | { readonly _tag: "Lapsed" }
  /** It is paid, and goes on. */
  | Renewed<Group>

/** A plan that was paid for another period. */
export interface Renewed<Group extends PlanGroup> {
  readonly _tag: "Renewed"
  readonly plan: Plan<Tiers[Group]>
  readonly priceCents: number
  /** Credits that the period brings; none where the group has a quota. */
  readonly credits: number
}

/** Decides on the plan of a group at `now`, with so much in the wallet. */
export const decide = <Group extends PlanGroup>(
  group: Group,
  plan: Option.Option<Plan<Tiers[Group]>>,
  balanceCents: number,
  table: PlanTable,
  now: DateTime.Utc
): Decision<Group> => {
  if (Option.isNone(plan)) return kept
  const { autoRenew, periodEnd, tier } = plan.value
  const isOver = DateTime.isLessThanOrEqualTo(periodEnd, now)
  const isDue = DateTime.isLessThanOrEqualTo(periodEnd, DateTime.add(now, { seconds: leadSeconds }))
  if (!isDue) return kept
  const tiers: { readonly [G in PlanGroup]: Readonly<Record<Tiers[G], Terms>> } = table
  const { credits = 0, priceCents } = tiers[group][tier]
  if (!autoRenew || priceCents > balanceCents) return isOver ? lapsed : kept
  const plainEnd = DateTime.add(periodEnd, { days: table.periodDays })
  // Who was away for a whole period is not charged for it.
  const end = DateTime.isGreaterThan(plainEnd, now) ? plainEnd : DateTime.add(now, { days: table.periodDays })
  return { _tag: "Renewed", plan: { tier, autoRenew, periodEnd: end }, priceCents, credits }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What a tier costs, and the credits that it brings where it brings any. */
interface Terms {
  readonly priceCents: number
  readonly credits?: number
}

const kept = { _tag: "Kept" } as const
const lapsed = { _tag: "Lapsed" } as const
