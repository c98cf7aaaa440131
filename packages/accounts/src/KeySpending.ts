/**
 * Counts what API keys spend per UTC day, and refuses what exceeds their budgets. Pure.
 *
 * Spending is counted per line of keys: a key and those that replaced it when it was rolled. Rolling a key therefore
 * does not reset what is used. `KeySpendings.load` loads lines under locks, and `KeySpendings.save` writes the changes
 * that they carry, both in the unit of work that charges or refunds the jobs.
 */
import { Decision } from "@kinora/persistence"
import { DateTime, Option, Result } from "effect"
import type { KeyId } from "./ApiKey.ts"
import { type BudgetName, isUnlimited, type KeyBudget } from "./KeyBudget.ts"

/** Credits and jobs. */
export interface Use {
  readonly credits: number
  readonly jobs: number
}

/** A UTC day, `YYYY-MM-DD`. */
export type Day = string

/** The spending of a line of keys, by UTC day. Days without jobs may be missing. */
export type Spending = ReadonlyMap<Day, Use>

/** A line of keys that has a budget, or had one. */
export interface KeyLine {
  /** Id of the first key of the line. */
  readonly id: KeyId
  readonly budget: KeyBudget
  readonly spending: Spending
  /** The days whose use has changed since the line was loaded or saved. */
  readonly changed: ReadonlySet<Day>
}

/** Lines of keys by their ids. Those that never had a budget are missing. */
export type KeyLines = ReadonlyMap<KeyId, KeyLine>

/** Returns the UTC day by which a charge at this time counts. */
export const dayOf = (at: DateTime.Utc): Day => DateTime.formatIsoDateUtc(at)

/** Returns the first day of the UTC month of a day. */
export const monthStartOf = (day: Day): Day => `${monthOf(day)}-01`

/** The use in a UTC day, and in its UTC month. */
export interface Used {
  readonly day: Use
  readonly month: Use
}

/** Returns what is used in the UTC day and the UTC month of `at`. */
export const usedAt = (spending: Spending, at: DateTime.Utc): Used => {
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
  /** 0 for a job in the plan group `studio`. */
  readonly credits: number
  readonly at: DateTime.Utc
}

/**
 * Counts a job, unless it exceeds the budget of its line. Returns whether it is counted: jobs of a line without a budget
 * are not. If a job exceeds several limits, the refusal has one that resets last, since the job would be refused until
 * then. A job without credits is not refused for credits.
 */
export const spend = (lines: KeyLines, { at, credits, line: id }: Spend): Decision.Decision<
  KeyLines,
  boolean,
  BudgetExceeded
> => {
  const line = lines.get(id)
  if (line === undefined || isUnlimited(line.budget)) return Decision.accept(lines, false)
  const exceeded = firstExceeded(line.budget, usedAt(line.spending, at), credits, at)
  if (exceeded !== undefined) return Result.fail(exceeded)
  const day = dayOf(at)
  return Decision.accept(withUse(lines, line, day, plus(line.spending.get(day) ?? nothing, { credits, jobs: 1 })), true)
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
 * Lowers what was used on the day of the charge, and so in its month, never below 0. Ignores a day or a line that is
 * missing: its counter was deleted after the month had ended, or the line with its last key.
 */
export const restore = (lines: KeyLines, { chargedAt, credits, line: id }: Restore): KeyLines => {
  const day = dayOf(chargedAt)
  const line = lines.get(id)
  const use = line?.spending.get(day)
  if (line === undefined || use === undefined) return lines
  // A counter that was changed by hand must not prevent the refund of the job.
  return withUse(lines, line, day, { credits: Math.max(0, use.credits - credits), jobs: Math.max(0, use.jobs - 1) })
}

/** The use of a line of keys on a day. */
export interface DayUse extends Use {
  readonly line: KeyId
  readonly day: Day
}

/** Returns the days that have changed. */
export const changesOf = (lines: KeyLines): ReadonlyArray<DayUse> =>
  Array.from(lines.values()).flatMap(({ changed, id, spending }) =>
    Array.from(changed, (day) => ({ line: id, day, ...spending.get(day) ?? nothing }))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nothing: Use = { credits: 0, jobs: 0 }

const plus = (a: Use, b: Use): Use => ({ credits: a.credits + b.credits, jobs: a.jobs + b.jobs })

/** Returns the month of a day, `YYYY-MM`. */
const monthOf = (day: Day): string => day.slice(0, -"-DD".length)

const withUse = (lines: KeyLines, line: KeyLine, day: Day, use: Use): KeyLines =>
  new Map(lines).set(line.id, {
    ...line,
    spending: new Map(line.spending).set(day, use),
    changed: new Set(line.changed).add(day)
  })

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
