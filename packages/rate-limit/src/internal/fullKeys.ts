/** Remembers the keys whose limit is used up in the current minute. */
import type { Clock } from "effect"
import * as Counter from "./counter.ts"
import { monotonicMillis } from "./monotonic.ts"

/**
 * Creates an empty memory of at most `keysMax` keys, each for at most `lasts` milliseconds.
 *
 * A minute's counter is lowered only by advances that are given back, so with `lasts` of their
 * duration, rejecting a take that did not fit once without a statement is exact. Takes with a higher
 * limit are not rejected. Remember committed counters only.
 *
 * The minute is that of the storage, and its end is measured with the monotonic clock of the
 * host. It is counted from before the statement was sent, so it is never too late.
 */
export const makeFullKeys = ({ keysMax, lasts }: { readonly keysMax: number; readonly lasts: number }) => {
  let newest = -1
  /** The end of the newest minute, on the monotonic clock in milliseconds. */
  let endsAt = 0
  let full = new Map<string, { readonly used: number; readonly until: number }>()

  /** Remembers the result of a take that was sent at `sentAt` on the monotonic clock. */
  const remember = ({ cost, key, limit }: Counter.Take, taken: Counter.Taken, sentAt: number): void => {
    if (taken.period > newest) {
      newest = taken.period
      endsAt = 0
      full = new Map()
    }
    if (taken.period < newest || taken.used < limit && taken.used + cost <= limit) return
    endsAt = Math.max(endsAt, sentAt + Counter.endOf("minute", newest) - taken.at)
    if (full.size >= keysMax && !full.has(key)) return
    full.set(key, { used: taken.used, until: sentAt + lasts })
  }

  /** Returns the refusal of a take that certainly does not fit. */
  const refuse = ({ cost, key, limit }: Counter.Take, clock: Clock.Clock): Counter.Taken | undefined => {
    const known = full.get(key)
    if (known === undefined || known.used + cost <= limit) return undefined
    const now = monotonicMillis(clock)
    return now < Math.min(endsAt, known.until)
      ? { accepted: false, used: known.used, period: newest, at: Counter.endOf("minute", newest) - (endsAt - now) }
      : undefined
  }

  return { remember, refuse }
}
