/** Counts of windows in rows. */
import type * as Windows from "../windows.ts"

/** Decodes the counts of a row, which are a text, since drivers decode arrays in different ways. */
export const countsOf = (row: { readonly period: number; readonly counts: string }): Windows.Counts => ({
  period: row.period,
  counts: row.counts.split(",").map(Number)
})
