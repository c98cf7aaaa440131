/** Limits concurrent work and serves accounts in turn. */
import { Effect, PartitionedSemaphore, Scheduler } from "effect"

/**
 * Makes a function that runs at most `max` effects at the same time. Waiting effects
 * start round robin over accounts, so an account with many requests delays the others
 * by one request each. An interrupted effect gives its place back immediately.
 */
export const makeTurns = (max: number) => {
  const places = PartitionedSemaphore.makeUnsafe<string>({ permits: max })

  return (account: string) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      // `places.withPermit` leaks the permit of a fiber that yields right after it took the permit and is interrupted
      // then (Effect-TS/effect#8391). Without that yield, a fiber can only be interrupted while it waits.
      Effect.provideService(restore(places.take(account, 1)), Scheduler.PreventSchedulerYield, true).pipe(
        Effect.andThen(Effect.ensuring(restore(work), places.release(1)))
      )
    )
}
