/** Bounds work of which one account can ask for much, without making the others wait for all of it. */
import { Effect, PartitionedSemaphore, Scheduler } from "effect"

/**
 * Runs at most `max` works at the same time. Those that wait are let in one of each
 * account in turn. Whoever is interrupted leaves at once, and its place is free again.
 */
export const makeTurns = (max: number) => {
  const places = PartitionedSemaphore.makeUnsafe<string>({ permits: max })

  return (account: string) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) =>
      // `places.withPermit` loses the permit of a fiber that yields when it has just taken it and is interrupted
      // then (Effect-TS/effect#8391). A fiber that does not yield by itself is only interrupted while it waits.
      Effect.provideService(restore(places.take(account, 1)), Scheduler.PreventSchedulerYield, true).pipe(
        Effect.andThen(Effect.ensuring(restore(work), places.release(1)))
      )
    )
}
