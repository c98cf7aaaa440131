/** Remembers the keys whose limit is used up in the current period. */
import type * as Counter from "./counter.ts"

/**
 * Creates an empty memory of at most `keysMax` keys.
 *
 * A minute's counter is never lowered, so a take that did not fit once does not fit until
 * the minute ends, and rejecting it without a statement is exact. Takes with a higher
 * limit are not rejected. Remember committed counters only.
 */
export const makeFullKeys = (keysMax: number) => {
  let newest = 0
  let used = new Map<string, number>()

  const remember = (take: Counter.Take, amount: number): void => {
    if (take.period > newest) {
      newest = take.period
      used = new Map()
    }
    if (take.period < newest || amount < take.limit && amount + take.cost <= take.limit) return
    if (used.size < keysMax || used.has(take.key)) used.set(take.key, Math.max(used.get(take.key) ?? 0, amount))
  }

  /** Returns the refusal of a take that certainly does not fit. */
  const refuse = (take: Counter.Take): Counter.Taken | undefined => {
    const known = take.period === newest ? used.get(take.key) ?? 0 : 0
    return known + take.cost > take.limit ? { accepted: false, used: known } : undefined
  }

  return { remember, refuse }
}
