/**
 * Limits what an API key can spend per UTC day and per UTC month. Pure.
 *
 * A budget belongs to a line of keys: a key and those that replaced it when it was rolled. Rolling a key therefore does
 * not reset what is used. The caller loads the spending under a lock that all units take that spend with the line, and
 * saves it in the unit that charges the job.
 */
import { Decision } from "@kinora/persistence"
import { DateTime, Option, Result } from "effect"
import type { KeyId } from "./ApiKey.ts"

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

/** Credits and jobs. */
export interface Use {
  readonly credits: number
  readonly jobs: number
}

/** A UTC day, `YYYY-MM-DD`. */
export type Day = string

/** The spending of a line of keys, by UTC day. Days without jobs may be missing. */
export type Spending = ReadonlyMap<Day, Use>

/** The spending of each line of keys, by the id of its first key. Lines without jobs may be missing. */
export type Spendings = ReadonlyMap<KeyId, Spending>

/** Returns the UTC day by which a charge at this time counts. */
export const dayOf = (at: DateTime.Utc): Day => DateTime.formatIsoDateUtc(at)

/** Returns what is used in the UTC day and the UTC month of `at`. */
export const usedAt = (spending: Spending, at: DateTime.Utc): { readonly day: Use; readonly month: Use } => {
  const today = dayOf(at)
  const month = monthOf(today)
  let used = nothing
  for (const [day, use] of spending) {
    if (monthOf(day) === month) used = plus(used, use)
  }
  return { day: spending.get(today) ?? nothing, month: used }
}

/** A job that would exceed a budget. */
export interface BudgetExceeded {
  readonly budget: BudgetName
  readonly limit: number
  readonly used: number
  /** Credits of the job, or 1 job. */
  readonly required: number
  /** When the period ends. */
  readonly resetsAt: DateTime.Utc
}

/** A charge of a key. */
export interface Spend {
  /** Id of the first key of the line. */
  readonly line: KeyId
  readonly budget: KeyBudget
  /** 0 for a job in the plan group `studio`. */
  readonly credits: number
  readonly at: DateTime.Utc
}

/**
 * Counts a job, unless it exceeds the budget. If it exceeds several limits, the refusal has one that resets last, since
 * the job would be refused until then. A job without credits is not refused for credits.
 */
export const spend = (
  spendings: Spendings,
  { at, budget, credits, line }: Spend
): Decision.Decision<Spendings, Use, BudgetExceeded> => {
  const spending = spendings.get(line) ?? new Map<Day, Use>()
  const exceeded = firstExceeded(budget, usedAt(spending, at), credits, at)
  if (exceeded !== undefined) return Result.fail(exceeded)
  const use = { credits, jobs: 1 }
  return Decision.accept(changed(spendings, line, dayOf(at), plus(spending.get(dayOf(at)) ?? nothing, use)), use)
}

/** A refund of a job that `spend` has counted. */
export interface Restore {
  /** Id of the first key of the line. */
  readonly line: KeyId
  readonly credits: number
  /** The time of the charge, not of the refund. */
  readonly chargedAt: DateTime.Utc
}

/**
 * Lowers what was used on the day of the charge, and so in its month. Ignores a day that is missing: its counter was
 * deleted after the month had ended.
 */
export const restore = (spendings: Spendings, { chargedAt, credits, line }: Restore): Spendings => {
  const day = dayOf(chargedAt)
  const use = spendings.get(line)?.get(day)
  if (use === undefined) return spendings
  if (use.credits < credits || use.jobs < 1) throw new Error(`A refund exceeds what the key ${line} spent on ${day}`)
  return changed(spendings, line, day, { credits: use.credits - credits, jobs: use.jobs - 1 })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const limitsOf = ({ creditsPerDay, creditsPerMonth, jobsPerDay, jobsPerMonth }: KeyBudget) => [
  creditsPerDay,
  creditsPerMonth,
  jobsPerDay,
  jobsPerMonth
]

const nothing: Use = { credits: 0, jobs: 0 }

const plus = (a: Use, b: Use): Use => ({ credits: a.credits + b.credits, jobs: a.jobs + b.jobs })

/** Returns the month of a day, `YYYY-MM`. */
const monthOf = (day: Day): string => day.slice(0, -"-DD".length)

const changed = (spendings: Spendings, line: KeyId, day: Day, use: Use): Spendings =>
  new Map(spendings).set(line, new Map(spendings.get(line)).set(day, use))

/** Months precede days, since they reset later. */
const firstExceeded = (
  budget: KeyBudget,
  { day, month }: ReturnType<typeof usedAt>,
  credits: number,
  at: DateTime.Utc
): BudgetExceeded | undefined => {
  const dayEnd = DateTime.add(DateTime.removeTime(at), { days: 1 })
  const monthEnd = DateTime.add(DateTime.startOf(at, "month"), { months: 1 })
  const limits = [
    ["creditsPerMonth", month.credits, credits, monthEnd],
    ["jobsPerMonth", month.jobs, 1, monthEnd],
    ["creditsPerDay", day.credits, credits, dayEnd],
    ["jobsPerDay", day.jobs, 1, dayEnd]
  ] as const
  for (const [name, used, required, resetsAt] of limits) {
    const limit = Option.getOrElse(budget[name], () => Infinity)
    if (required > 0 && used + required > limit) return { budget: name, limit, used, required, resetsAt }
  }
  return undefined
}
