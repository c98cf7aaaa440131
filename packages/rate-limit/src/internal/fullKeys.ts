/** Remembers the keys whose limit is used up. */
import type { Clock } from "effect"
import type * as Counter from "./counter.ts"
import { monotonicMillis } from "./monotonic.ts"

/**
 * Creates an empty memory of at most `keysMax` keys, each until its counter can fall, and for at most `lasts` milliseconds.
 *
 * Before its period ends, a counter is lowered only by advances that are given back, so with `lasts` of their
 * duration, rejecting a take that did not fit once without a statement is exact. Takes with a limit in which they fit are
 * not rejected, nor takes with a higher limit of a token bucket, which that limit fills faster. Remember committed
 * counters only.
 *
 * The end of a period is that of the storage, and is measured with the monotonic clock of the
 * host. It is counted from before the statement was sent, so it is never too late.
 */
export const makeFullKeys = ({ keysMax, lasts }: { readonly keysMax: number; readonly lasts: number }) => {
  const full = new Map<string, Full>()

  /** Remembers the result of a take that was sent at `sentAt` on the monotonic clock. */
  const remember = ({ cost, key, limit }: Counter.Take, taken: Counter.Taken, sentAt: number): void => {
    if (taken.used < limit && taken.used + cost <= limit) return
    const known = full.get(key)
    if (keysMax === 0 || known !== undefined && known.taken.period > taken.period) return
    full.delete(key)
    // The first one is the oldest.
    const [oldest] = full.size < keysMax ? [] : full.keys()
    if (oldest !== undefined) full.delete(oldest)
    full.set(key, { limit, taken, sentAt, until: sentAt + Math.min(taken.endsAt - taken.at, lasts) })
  }

  /** Returns the refusal of a take that certainly does not fit. */
  const refuse = ({ cost, key, limit }: Counter.Take, clock: Clock.Clock): Counter.Taken | undefined => {
    const known = full.get(key)
    if (known === undefined || known.taken.used + cost <= limit) return undefined
    if (known.taken.bucket !== undefined && limit > known.limit) return undefined
    const now = monotonicMillis(clock)
    if (now >= known.until) {
      full.delete(key)
      return undefined
    }
    const { at, bucket, counts, endsAt, period, used } = known.taken
    return { accepted: false, used, period, at: at + now - known.sentAt, endsAt, counts, bucket }
  }

  /** Forgets a key, whose counter was deleted. */
  const forget = (key: string): void => {
    full.delete(key)
  }

  return { remember, refuse, forget }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Full {
  /** The limit of the take. */
  readonly limit: number
  readonly taken: Counter.Taken
  readonly sentAt: number
  /** The time until which the counter does not fall, on the monotonic clock. */
  readonly until: number
}
