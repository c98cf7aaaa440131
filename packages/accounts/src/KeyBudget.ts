/**
 * The budget of an API key: what it can spend per UTC day and per UTC month.
 *
 * A budget belongs to a line of keys: a key and those that replaced it when it was rolled.
 */
import { Option, Result } from "effect"

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

/** The author of a limit: an operator of the service, or a member of the account. */
export type BudgetAuthor = "member" | "operator"

/** The budget of a line of keys. */
export interface LineBudget {
  readonly budget: KeyBudget
  /** The limits that an operator has set. No limit of `budget` exceeds them. */
  readonly budgetMax: KeyBudget
}

/** A member would exceed or remove a limit that an operator has set. */
export interface BudgetFixed {
  readonly budget: BudgetName
  readonly limit: number
}

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

/**
 * Changes the given limits. Limits of an operator are the maximum for members from then on, and without limit is no
 * maximum. Refuses the first limit that a member cannot set.
 */
export const change = (
  { budget, budgetMax }: LineBudget,
  limits: Partial<KeyBudget>,
  author: BudgetAuthor
): Result.Result<LineBudget, BudgetFixed> => {
  const changed = { ...budget, ...limits }
  if (author === "operator") return Result.succeed({ budget: changed, budgetMax: { ...budgetMax, ...limits } })
  for (const name of names) {
    const [limit, maximum] = [limits[name], budgetMax[name]]
    if (limit === undefined || Option.isNone(maximum)) continue
    if (!Option.exists(limit, (limit) => limit <= maximum.value)) {
      return Result.fail({ budget: name, limit: maximum.value })
    }
  }
  return Result.succeed({ budget: changed, budgetMax })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const names: ReadonlyArray<BudgetName> = ["creditsPerDay", "creditsPerMonth", "jobsPerDay", "jobsPerMonth"]

const limitsOf = (budget: KeyBudget) => names.map((name) => budget[name])
