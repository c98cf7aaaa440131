/**
 * The rules of windows of any length, fixed or sliding.
 *
 * A sliding window is divided into parts. A hit sees the hits of the current part and of as many parts before it as the
 * window has, which together are at least as long as the window. So no interval of the length of the window has more
 * accepted hits than the limit. The part at the beginning is counted whole, so a hit counts for up to one part longer
 * than the window. A fixed window has one part, and a hit sees the hits of this part only.
 */
import type { Decided } from "@kinora/persistence/Decision"
import * as Counter from "./counter.ts"

/** The counts of a key. */
export interface Counts {
  /** The number of the last part, as `Counter.periodOf` returns it. */
  readonly period: number
  /** The counts of the parts that a hit sees, the last one at the end. */
  readonly counts: ReadonlyArray<number>
}

/** The number of parts that a hit sees. */
export const sizeOf = ({ parts }: Counter.Window): number => parts === 1 ? 1 : parts + 1

/** Returns the counts of a key without hits. */
export const empty = (window: Counter.Window, period: number): Counts => ({
  period,
  counts: Array.from({ length: sizeOf(window) }, () => 0)
})

/**
 * Returns the counts as a hit of a period sees them: those of parts that have ended for longer than the window are
 * removed. A statement that began in an earlier part than one that was executed before it counts in the later part.
 */
export const moved = ({ counts, period }: Counts, current: number): Counts => {
  const past = Math.min(Math.max(current - period, 0), counts.length)
  return {
    period: Math.max(current, period),
    counts: [...counts.slice(past), ...Array.from({ length: past }, () => 0)]
  }
}

/** Returns what a hit of the last part sees. */
export const usedOf = ({ counts }: Counts): number => counts.reduce((used, count) => used + count, 0)

/**
 * Grants as many takes of a demand as fit at a time, by the rule of `Counter.take`. `sql/takeFromWindows.ts` does the same
 * in SQL, and a test compares the two.
 */
export const take = (before: Counts, demand: Counter.Demand, at: number): Decided<Counts, number> => {
  const { counts, period } = moved(before, Counter.periodOf(demand.window, at))
  const { value } = Counter.take(usedOf({ counts, period }), demand)
  return { state: { period, counts: [...counts.slice(0, -1), counts.at(-1)! + value * demand.cost] }, value }
}

/** Adds an amount to a fixed window by the rule of `Counter.add`, unless the window has ended. */
export const add = ({ counts, period }: Counts, amount: Counter.Amount): Counts => ({
  period,
  counts: amount.period === period ? [Counter.add(counts[0]!, amount.amount)] : counts
})

/** Returns the counter of a key. */
export const currentOf = (
  { key, window }: Counter.Counted,
  { counts, period }: Counts,
  at: number
): Counter.Current => ({
  key,
  period,
  at,
  used: usedOf({ counts, period }),
  endsAt: Counter.endOf(window, period),
  counts: window.parts === 1 ? undefined : counts
})

/**
 * Returns the time after which no hit sees the counts, in milliseconds. It is the end of a window, so it is the same for
 * all hits of one window.
 */
export const expiresAt = ({ length, parts }: Counter.Window, period: number): number =>
  (Math.floor(period / parts) + (parts === 1 ? 1 : 2)) * length

/** The time from which no hit sees the counts, if no hit counts until then. */
export const resetsAt = (window: Counter.Window, { counts, period }: Counts, at: number): number => {
  const last = counts.findLastIndex((count) => count > 0)
  return last === -1 ? at : seenUntil(window, { counts, period }, last)
}

/**
 * The earliest time at which a take fits, if nothing else counts until then. For a take that never fits, `resetsAt`.
 */
export const fitsAt = (
  { cost, limit, window }: Counter.Take,
  { counts, period }: Counts,
  at: number
): number => {
  let used = usedOf({ counts, period })
  if (used + cost <= limit) return at
  for (const [index, count] of counts.entries()) {
    used -= count
    if (used + cost <= limit) return seenUntil(window, { counts, period }, index)
  }
  return resetsAt(window, { counts, period }, at)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the time from which no hit sees the count at an index. The one at the beginning is seen until the last part ends. */
const seenUntil = (window: Counter.Window, { period }: Counts, index: number): number =>
  Counter.endOf(window, period + index)
