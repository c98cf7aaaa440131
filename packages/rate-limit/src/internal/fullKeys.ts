/** Remembers the keys whose limit is used up in the current minute. */
import type { Clock } from "effect"
import * as Counter from "./counter.ts"

/**
 * Creates an empty memory of at most `keysMax` keys.
 *
 * A minute's counter is never lowered, so a take that did not fit once does not fit until
 * the minute ends, and rejecting it without a statement is exact. Takes with a higher
 * limit are not rejected. Remember committed counters only.
 *
 * The minute is that of the storage, and its end is measured with the monotonic clock of the
 * host. It is counted from before the statement was sent, so it is never too late.
 */
export const makeFullKeys = (keysMax: number) => {
  let newest = -1
  /** The end of the newest minute, on the monotonic clock in milliseconds. */
  let endsAt = 0
  let used = new Map<string, number>()

  /** Remembers the result of a take that was sent at `sentAt` on the monotonic clock. */
  const remember = ({ cost, key, limit }: Counter.Take, taken: Counter.Taken, sentAt: number): void => {
    if (taken.period > newest) {
      newest = taken.period
      endsAt = 0
      used = new Map()
    }
    if (taken.period < newest || taken.used < limit && taken.used + cost <= limit) return
    endsAt = Math.max(endsAt, sentAt + Counter.endOf("minute", newest) - taken.at)
    if (used.size < keysMax || used.has(key)) used.set(key, Math.max(used.get(key) ?? 0, taken.used))
  }

  /** Returns the refusal of a take that certainly does not fit. */
  const refuse = ({ cost, key, limit }: Counter.Take, clock: Clock.Clock): Counter.Taken | undefined => {
    const known = used.get(key)
    if (known === undefined || known + cost <= limit) return undefined
    const left = endsAt - monotonicMillis(clock)
    return left > 0
      ? { accepted: false, used: known, period: newest, at: Counter.endOf("minute", newest) - left }
      : undefined
  }

  return { remember, refuse }
}

/** The time of the monotonic clock in milliseconds. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6
