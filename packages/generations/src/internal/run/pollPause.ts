/** The time between two polls of an operation whose driver has `spacesPolls`. */
import { Clock, Duration, Effect, Random } from "effect"

/**
 * Returns the pause before the next poll, from the interval `after` of the driver. It is at least a twentieth of the time
 * since `began` (by the monotonic clock, in nanoseconds), so that long work is polled less often. It is up to a tenth
 * longer at random, so that jobs that a worker takes over together are not polled together. Intervals of less than a
 * second stay as they are: their drivers wait in the poll, ask an engine beside them, or know when the work ends.
 */
export const pollPause = Effect.fnUntraced(function*(after: Duration.Duration, began: bigint) {
  if (Duration.isLessThan(after, stretchedMin)) return after
  const elapsed = Number((yield* Clock.monotonicTimeNanos) - began) / 1_000_000
  const pause = Math.max(Duration.toMillis(after), Math.min(elapsed * elapsedShare, elapsedShareMax))
  return Duration.millis(pause * (yield* Random.nextBetween(1, 1 + jitter)))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Shortest interval that is made longer. */
const stretchedMin = Duration.seconds(1)
const elapsedShare = 0.05
/** Longest pause that this share makes, in milliseconds. */
const elapsedShareMax = 30_000
const jitter = 0.1
