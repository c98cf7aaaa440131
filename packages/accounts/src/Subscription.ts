/** Rules of starting and changing plans that are paid from the balance, as pure functions. */
import { DateTime, Option, Result } from "effect"
import type { Plan, PlanGroup, Tiers } from "./Plan.ts"
import * as Plans from "./Plan.ts"
import { type PlanTable, type Terms, termsOf } from "./PlanTable.ts"

/** The balance of an account, and its plan in the group. */
export interface State<Group extends PlanGroup> {
  readonly balanceCents: number
  readonly plan: Option.Option<Plan<Tiers[Group]>>
}

/** Decision about a subscription to a tier. */
export type Decision<Group extends PlanGroup> =
  /** No plan is active: a period starts now. */
  | Paid<Group, "Started">
  /** The active plan gets the tier now, for the rest of its period. */
  | Paid<Group, "Raised">
  /** The active plan keeps its tier until the end of its period, and renews with the other one. */
  | { readonly _tag: "Scheduled"; readonly plan: Plan<Tiers[Group]> }
  /** The active plan has the tier, and renews with it. */
  | { readonly _tag: "Continued"; readonly plan: Plan<Tiers[Group]> }

/** A decision with a payment. */
export interface Paid<Group extends PlanGroup, Tag extends string> {
  readonly _tag: Tag
  readonly plan: Plan<Tiers[Group]>
  readonly priceCents: number
  /** Credits to grant until the end of the period. 0 in a group with a quota. */
  readonly credits: number
}

/** The balance is lower than the price. */
export interface BalanceTooLow {
  readonly _tag: "BalanceTooLow"
  readonly requiredCents: number
  readonly availableCents: number
}

/**
 * Decides about a subscription at `now`. A tier that costs as much as the current one or more is
 * paid and used at once, in proportion to the time that is left: the price is rounded up to a cent,
 * the credits are rounded down. A cheaper tier starts with the next period. The plan renews afterwards.
 */
export const decide = <Group extends PlanGroup>(
  { balanceCents, plan }: State<Group>,
  { group, tier }: { readonly group: Group; readonly tier: Tiers[Group] },
  table: PlanTable,
  now: DateTime.Utc
): Result.Result<Decision<Group>, BalanceTooLow> => {
  const terms = termsOf(table, group, tier)
  const active = Plans.active(plan, now)
  if (Option.isNone(active)) {
    const periodEnd = DateTime.add(now, { days: table.periodDays })
    return payable({ _tag: "Started", plan: { tier, periodEnd, autoRenew: true }, ...terms }, balanceCents)
  }
  const { periodEnd, tier: current } = active.value
  const renewing = { tier: current, periodEnd, autoRenew: true }
  if (current === tier) return Result.succeed({ _tag: "Continued", plan: renewing })
  const former = termsOf(table, group, current)
  if (terms.priceCents < former.priceCents) {
    return Result.succeed({ _tag: "Scheduled", plan: { ...renewing, nextTier: tier } })
  }
  const share = shareOf(periodEnd, table, now)
  return payable({ _tag: "Raised", plan: { ...renewing, tier }, ...difference(former, terms, share) }, balanceCents)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const payable = <Group extends PlanGroup, Tag extends string>(
  decision: Paid<Group, Tag>,
  availableCents: number
): Result.Result<Paid<Group, Tag>, BalanceTooLow> =>
  decision.priceCents <= availableCents
    ? Result.succeed(decision)
    : Result.fail({ _tag: "BalanceTooLow", requiredCents: decision.priceCents, availableCents })

/** A part of a period, in milliseconds. The product of a price and a period exceeds the safe integers. */
interface Share {
  readonly left: bigint
  readonly period: bigint
}

const shareOf = (periodEnd: DateTime.Utc, { periodDays }: PlanTable, now: DateTime.Utc): Share => ({
  left: BigInt(periodEnd.epochMilliseconds - now.epochMilliseconds),
  period: BigInt(periodDays) * 86_400_000n
})

/** Returns what the share of a period costs and grants more than before. */
const difference = (former: Terms, terms: Terms, { left, period }: Share): Terms => ({
  priceCents: Number((BigInt(terms.priceCents - former.priceCents) * left + period - 1n) / period),
  credits: Number(BigInt(Math.max(0, terms.credits - former.credits)) * left / period)
})
