/** The range, measure and split of the page, kept in the URL. */
import { oneOf } from "../../format/search.ts"
import { day, isoDay } from "../../format/time.ts"
import type { Measure, Split } from "./rows.ts"

/** The search parameters of the page. */
export interface UsageSearch {
  readonly days?: "7" | "31"
  readonly of?: Exclude<Measure, "jobs">
  readonly by?: Exclude<Split, "model">
}

/** Reads the search parameters. Defaults are not in the URL. */
export const usageSearch = (search: Readonly<Record<string, unknown>>): UsageSearch => ({
  ...oneOf("days", { days: String(search["days"]) }, ["7", "31"]),
  ...oneOf("of", search, ["credits", "failed"]),
  ...oneOf("by", search, ["plan", "kind", "key"])
})

/** The last `count` UTC days up to a time, after skipping `skipped` days. */
export const lastDays = (now: number, count: number, skipped = 0): ReadonlyArray<string> => {
  const last = Math.floor(now / day) * day - skipped * day
  return Array.from({ length: count }, (_, index) => isoDay(last - (count - 1 - index) * day))
}
