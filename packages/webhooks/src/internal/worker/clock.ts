/** Clock helpers of the delivery worker. */
import { Clock, Duration, Effect } from "effect"

/**
 * Sleeps in real time, also under a test clock, so that work for the database gathers into
 * larger sets. The load of the database does not follow a test clock.
 */
export const pause = (duration: Duration.Duration): Effect.Effect<void> =>
  Duration.isZero(duration)
    ? Effect.void
    : Effect.provideService(Effect.sleep(duration), Clock.Clock, Clock.Clock.defaultValue())

/** Reads the monotonic clock in milliseconds. The wall clock may be set while a send is in flight. */
export const monotonicMillis: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1_000_000
)
