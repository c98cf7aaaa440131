/** Figures of usage. Totals, chart and table are computed from the same rows, so they always match. */
import type { UsageReport } from "../../api/types.ts"

/** The jobs of one day, plan group, model and kind. */
export type UsageRow = NonNullable<UsageReport["data"]>[number]

/** The figure that is counted. */
export type Measure = "jobs" | "credits" | "failed"

/** The property by which figures are split. */
export type Split = "model" | "plan" | "kind" | "key"

/** A line of a chart: one value per day. */
export interface Series {
  readonly name: string
  readonly values: ReadonlyArray<number>
}

/** The value of a row. */
export const valueOf = (row: UsageRow, measure: Measure): number =>
  measure === "credits" ? row.credits : measure === "failed" ? row.failed : row.completed + row.failed + row.cancelled

/** The name of the series to which a row belongs. */
const nameOf = (row: UsageRow, split: Split): string => {
  if (split === "model") return row.model
  if (split === "plan") return row.plan === "studio" ? "Studio" : "Credits"
  if (split === "key") return row.key?.name ?? row.key?.id ?? "No key recorded"
  return row.kind === "image" ? "Images" : "Videos"
}

/** One series per name, sorted by name, with a value for each day. */
export const seriesOf = (
  rows: ReadonlyArray<UsageRow>,
  days: ReadonlyArray<string>,
  measure: Measure,
  split: Split
): ReadonlyArray<Series> =>
  [...new Set(rows.map((row) => nameOf(row, split)))].toSorted().map((name) => ({
    name,
    values: days.map((day) =>
      rows.reduce((sum, row) => row.day === day && nameOf(row, split) === name ? sum + valueOf(row, measure) : sum, 0)
    )
  }))

/** The sum over rows. */
export const total = (rows: ReadonlyArray<UsageRow>, pick: (row: UsageRow) => number): number =>
  rows.reduce((sum, row) => sum + pick(row), 0)

/** The change against an earlier value: `+12 %`, `−3 %`, `no change`. `null` without an earlier value. */
export const changeOf = (now: number, before: number): string | null => {
  if (before === 0) return null
  const percent = Math.round((now - before) / before * 100)
  return percent === 0 ? "no change" : `${percent > 0 ? "+" : "−"}${Math.abs(percent)} %`
}
