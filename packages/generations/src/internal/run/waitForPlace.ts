/** Waits of the jobs of a process for places that other processes release. */
import { Effect, Random, Semaphore } from "effect"

/**
 * Makes a function that repeats an attempt until it returns `true`, or returns `false` after 30 seconds.
 * The first of the waiting jobs asks, about every second, and holds neither a connection nor a lock in between. The others follow in their order.
 */
export const makeWait = () => {
  const turns = Semaphore.makeUnsafe(1)
  let waiting = 0

  const repeat = <E, R>(attempt: Effect.Effect<boolean, E, R>) =>
    Effect.gen(function*() {
      while (!(yield* attempt)) yield* Effect.sleep(yield* Random.nextBetween(500, 1_500))
      return true
    })

  return <E, R>(attempt: Effect.Effect<boolean, E, R>): Effect.Effect<boolean, E, R> =>
    Effect.gen(function*() {
      // A job does not overtake those that wait.
      if (waiting === 0 && (yield* attempt)) return true
      waiting++
      return yield* turns.withPermits(1)(repeat(attempt)).pipe(
        Effect.timeoutOrElse({ duration: waitMax, orElse: () => Effect.succeed(false) }),
        Effect.ensuring(Effect.sync(() => waiting--))
      )
    })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Maximum time that a claimed job waits. Then it returns to the queue, where it is before later jobs. */
const waitMax = "30 seconds"
