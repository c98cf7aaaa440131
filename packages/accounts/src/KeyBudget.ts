/**
 * The budget of an API key: what it can spend per UTC day and per UTC month.
 *
 * A budget belongs to a line of keys: a key and those that replaced it when it was rolled.
 */
import { Option } from "effect"

/** The budget of a key. `None` does not limit. */
export interface KeyBudget {
  /** Maximum credits of jobs in the plan group `credits` per UTC day. */
  readonly creditsPerDay: Option.Option<number>
  /** Maximum credits of jobs in the plan group `credits` per UTC month. */
  readonly creditsPerMonth: Option.Option<number>
  /** Maximum number of jobs of both plan groups per UTC day. */
  readonly jobsPerDay: Option.Option<number>
  /** Maximum number of jobs of both plan groups per UTC month. */
  readonly jobsPerMonth: Option.Option<number>
}

/** A limit of a budget. */
export type BudgetName = keyof KeyBudget

/** The budget of a key without limits. */
export const unlimited: KeyBudget = {
  creditsPerDay: Option.none(),
  creditsPerMonth: Option.none(),
  jobsPerDay: Option.none(),
  jobsPerMonth: Option.none()
}

/** Maximum value of a limit: 10^12. */
export const limitMax = 1_000_000_000_000

/** Returns what is wrong with a budget, or `undefined`. */
export const problemOf = (budget: KeyBudget): string | undefined =>
  limitsOf(budget).some(Option.exists((limit: number) => !Number.isInteger(limit) || limit < 0 || limit > limitMax))
    ? `Each limit of a budget must be a whole number from 0 to ${limitMax}.`
    : undefined

/** Returns whether a budget limits nothing, so that its spending need not be counted. */
export const isUnlimited = (budget: KeyBudget): boolean => limitsOf(budget).every(Option.isNone)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const limitsOf = ({ creditsPerDay, creditsPerMonth, jobsPerDay, jobsPerMonth }: KeyBudget) => [
  creditsPerDay,
  creditsPerMonth,
  jobsPerDay,
  jobsPerMonth
]
