/** Where a hit counts. */
import { Duration } from "effect"
import * as Counter from "./counter.ts"

/** The shortest window of a limit. */
export const windowMin: Duration.Duration = Duration.seconds(1)

/** The longest window of a limit. */
export const windowMax: Duration.Duration = Duration.days(31)

/** The part of a hit that determines where it counts, and for how much. `RateLimit.Hit` documents it. */
interface Hit {
  readonly key: string
  readonly limit: number
  readonly cost?: number | undefined
  readonly window?: Duration.Input | undefined
}

/** Returns whether a hit counts in the calendar minute, which has a table of its own. */
export const isOfMinute = ({ window }: Hit): boolean => window === undefined || lengthOf(window) === minute.length

/** Returns the take of a hit of the calendar minute. */
export const takeOfMinute = ({ cost = 1, key, limit }: Hit): Counter.Take => (
  { key, window: minute, limit, cost, advanceMax: limit }
)

/** Returns the take of a hit of a window. The key of its counter has the window, so that windows of different lengths differ. */
export const takeOfWindow = ({ cost = 1, key, limit, window = minute.length }: Hit): Counter.Take => {
  const length = lengthOf(window)
  return { key: `${length}/1/${key}`, window: { length, parts: 1 }, limit, cost, advanceMax: limit }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const { minute } = Counter.windows

/** Returns the length of a window in milliseconds. Throws a `TypeError` if there are no windows of this length. */
const lengthOf = (window: Duration.Input): number => {
  const length = Duration.toMillis(Duration.fromInputUnsafe(window))
  if (Number.isInteger(length) && length >= Duration.toMillis(windowMin) && length <= Duration.toMillis(windowMax)) {
    return length
  }
  throw new TypeError(`Expected a window of 1 second to 31 days in whole milliseconds, got ${length} milliseconds`)
}
