/** Clocks of hosts that differ from the clock of the test. */
import { Clock, type Context, Effect } from "effect"

/** Returns a clock that is ahead of another one, or behind if `millis` is negative. Both sleep and measure alike. */
export const aheadOf = (clock: Clock.Clock, millis: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + nanosOf(millis),
  currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + nanosOf(millis)),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

/**
 * Runs an effect on a host whose clock is ahead by `millis`. The surrounding clock becomes
 * that of the database: pass `DatabaseTime.DatabaseClock`.
 */
export const onHost =
  (databaseClock: Context.Reference<Clock.Clock | undefined>, millis: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Clock.clockWith((clock) =>
      effect.pipe(
        Effect.provideService(databaseClock, clock),
        Effect.provideService(Clock.Clock, aheadOf(clock, millis))
      )
    )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nanosOf = (millis: number): bigint => BigInt(millis) * 1_000_000n
