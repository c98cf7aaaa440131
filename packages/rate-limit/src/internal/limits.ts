/** The counters of a hit, and its result. */
import { Duration } from "effect"
import * as Buckets from "./buckets.ts"
import * as Counter from "./counter.ts"
import * as Windows from "./windows.ts"

/** How a limit counts. `RateLimit.Algorithm` documents it. */
export type Algorithm = "fixedWindow" | "slidingWindow" | "tokenBucket"

/** The shortest window of a limit. */
export const windowMin: Duration.Duration = Duration.seconds(1)

/** The longest window of a limit. */
export const windowMax: Duration.Duration = Duration.days(31)

/** The parts of a sliding window. A hit counts for up to a part longer than the window. */
const slidingParts = 20

/** The part of a hit that determines where it counts, and for how much. `RateLimit.Hit` documents it. */
interface Hit {
  readonly key: string
  readonly limit: number
  readonly cost?: number | undefined
  readonly window?: Duration.Input | undefined
  readonly algorithm?: Algorithm | undefined
  readonly mayWait?: boolean | undefined
}

/** The kinds of counters of hits. A call that counts in several locks them in this order. */
export const kinds = ["minute", "window", "bucket"] as const

/** A take, and where it counts. */
export interface Placed {
  readonly kind: (typeof kinds)[number]
  readonly take: Counter.Take
}

/**
 * Returns where a hit counts. The calendar minute has counters of its own. The key of another counter has the length of
 * its window and the number of its parts, since these belong to what is stored. Throws a `TypeError` for a window that a
 * limit cannot have, and for an unknown algorithm.
 */
export const placedOf = (
  { algorithm = "fixedWindow", cost = 1, key, limit, mayWait = false, window }: Hit
): Placed => {
  const length = window === undefined ? minute.length : lengthOf(window)
  // An advance would count at the time at which it was taken, so a sliding window has none.
  const advanceMax = mayWait && algorithm === "fixedWindow" ? limit : 0
  if (algorithm === "fixedWindow" && length === minute.length) {
    return { kind: "minute", take: { key, window: minute, limit, cost, advanceMax } }
  }
  if (algorithm === "tokenBucket") {
    if (limit * length > Buckets.productMax) {
      throw new TypeError(
        `A token bucket of ${limit} is too large: multiplied by its window in milliseconds, it must not exceed 2^53`
      )
    }
    return { kind: "bucket", take: { key: `${length}/${key}`, window: { length, parts: 1 }, limit, cost } }
  }
  if (!Object.hasOwn(partsOf, algorithm)) throw new TypeError(`Unknown algorithm "${algorithm}"`)
  const parts = partsOf[algorithm]
  return {
    kind: "window",
    take: { key: `${length}/${parts}/${key}`, window: { length, parts }, limit, cost, advanceMax }
  }
}

/** Returns the times of a result in milliseconds: when all of the limit is free, and when the same take fits. */
export const timesOf = (
  take: Counter.Take,
  taken: Counter.Taken
): { readonly resetsAt: number; readonly retryAt: number } => {
  const { at, bucket, counts, endsAt, period, used } = taken
  const fits = used + take.cost <= take.limit
  if (bucket !== undefined) {
    return { resetsAt: Math.max(Buckets.resetsAt(take, bucket), at), retryAt: fits ? at : Buckets.fitsAt(take, bucket) }
  }
  if (counts === undefined) return { resetsAt: endsAt, retryAt: fits ? at : endsAt }
  const { window } = take
  return {
    resetsAt: Windows.resetsAt(window, { counts, period }, at),
    retryAt: fits ? at : Windows.fitsAt(take, { counts, period }, at)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const { minute } = Counter.windows

const partsOf = { fixedWindow: 1, slidingWindow: slidingParts } as const

/** Returns the length of a window in milliseconds. Throws a `TypeError` if there are no windows of this length. */
const lengthOf = (window: Duration.Input): number => {
  const length = Duration.toMillis(Duration.fromInputUnsafe(window))
  if (Number.isInteger(length) && length >= Duration.toMillis(windowMin) && length <= Duration.toMillis(windowMax)) {
    return length
  }
  throw new TypeError(`Expected a window of 1 second to 31 days in whole milliseconds, got ${length} milliseconds`)
}
