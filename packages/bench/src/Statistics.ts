/** Medians, ranges and percentiles. */

/** Median and range of a set. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Returns a quantile of sorted values, 0 if there are none. */
export const quantile = (sorted: ArrayLike<number>, part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0

/** Returns median and range, zeros if there are no values. */
export const spreadOf = (values: ReadonlyArray<number>): Spread => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return {
    median: sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0
  }
}

/** Returns median and 99th percentile of latencies. */
export const percentilesOf = (latencies: ReadonlyArray<number>): { readonly p50: number; readonly p99: number } => {
  const sorted = Float64Array.from(latencies).toSorted()
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
}
