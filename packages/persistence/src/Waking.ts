/**
 * Tells workers that there may be work, for packages whose workers look for rows. In
 * this process a latch opens at once after the commit; other processes are reached
 * through hooks, and whatever gets lost on the way is found by the workers' poll.
 */
import { Effect, Latch, type Scope, Stream } from "effect"

/** Wakes the workers of this process, and of others through hooks. */
export interface Waking {
  /** There may be work. Costs next to nothing when nobody sleeps. */
  readonly wake: Effect.Effect<void>
  /** A latch that every `wake` opens, as long as the scope lives. Its owner closes it before it looks for work. */
  readonly subscribe: Effect.Effect<Latch.Latch, never, Scope.Scope>
}

/** Hooks to other processes. */
export interface WakingOptions {
  /**
   * Tells other processes. Runs after each commit that made work, before its caller
   * goes on: it should only note that there is something to send, and send once for many.
   */
  readonly publish?: Effect.Effect<void> | undefined
  /** What other processes tell: each element wakes the workers here. Ends only when nothing more will come. */
  readonly subscribe?: Stream.Stream<unknown> | undefined
}

/** Listens to other processes as long as the scope lives. */
export const make = Effect.fnUntraced(
  function*({ publish = Effect.void, subscribe = Stream.empty }: WakingOptions): Effect.fn.Return<
    Waking,
    never,
    Scope.Scope
  > {
    const latches = new Set<Latch.Latch>()
    const wakeHere = Effect.sync(() => latches.forEach((latch) => latch.openUnsafe()))
    yield* Effect.forkScoped(Stream.runForEach(subscribe, () => wakeHere))
    return {
      wake: Effect.andThen(wakeHere, publish),
      subscribe: Effect.acquireRelease(
        Effect.sync(() => {
          const latch = Latch.makeUnsafe(false)
          latches.add(latch)
          return latch
        }),
        (latch) => Effect.sync(() => latches.delete(latch))
      )
    }
  }
)
