/** The range, measure and split of the page, kept in the URL. */
import { oneOf } from "../../format/search.ts"
import { day, isoDay } from "../../format/time.ts"
import type { Measure, Split } from "./rows.ts"

/** The search parameters of the page. */
export interface UsageSearch {
  readonly days?: "7" | "31"
  /** The first and the last day of a range of its own, `YYYY-MM-DD`. They replace `days`. */
  readonly from?: string
  readonly to?: string
  readonly of?: Exclude<Measure, "jobs">
  readonly by?: Exclude<Split, "model">
}

/** Reads the search parameters. Defaults are not in the URL. */
export const usageSearch = (search: Readonly<Record<string, unknown>>): UsageSearch => ({
  ...(problemOf(search["from"], search["to"]) === undefined
    ? { from: String(search["from"]), to: String(search["to"]) }
    : oneOf("days", { days: String(search["days"]) }, ["7", "31"])),
  ...oneOf("of", search, ["credits", "failed"]),
  ...oneOf("by", search, ["plan", "kind", "key"])
})

/** Maximum number of days of a range, as of the API. */
const rangeDaysMax = 31

/** Returns what is wrong with a range of its own, or `undefined`. */
export const problemOf = (from: unknown, to: unknown): string | undefined => {
  const [first, last] = [dayOf(from), dayOf(to)]
  if (first === undefined || last === undefined) return "Choose a first and a last day."
  if (first > last) return "The first day must not be after the last one."
  return (last - first) / day >= rangeDaysMax ? `Choose at most ${rangeDaysMax} days.` : undefined
}

/** The UTC days of the page, and as many days before them. */
export const daysOf = (
  { days = "14", from, to }: { readonly days?: string; readonly from?: string; readonly to?: string },
  now: number
) => {
  const [first, last] = [dayOf(from), dayOf(to)]
  const length = first === undefined || last === undefined ? Number(days) : (last - first) / day + 1
  const end = last ?? now
  return { days: lastDays(end, length), before: lastDays(end, length, length) }
}

/** The last `count` UTC days up to a time, after skipping `skipped` days. */
export const lastDays = (now: number, count: number, skipped = 0): ReadonlyArray<string> => {
  const last = Math.floor(now / day) * day - skipped * day
  return Array.from({ length: count }, (_, index) => isoDay(last - (count - 1 - index) * day))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The start of a day `YYYY-MM-DD`, or `undefined` for any other text. */
const dayOf = (text: unknown): number | undefined => {
  const time = typeof text === "string" && /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(time) || isoDay(time) !== text ? undefined : time
}
