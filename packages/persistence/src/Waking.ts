/**
 * Wakes workers that poll tables for work. Workers of this process wake immediately
 * after the commit, workers of other processes through hooks. A lost wake-up only
 * delays work until the next poll.
 */
import { Effect, Latch, RcRef, type Scope, Stream } from "effect"

/** Wakes the workers of this process, and of other processes through hooks. */
export interface Waking {
  /** Wakes the workers. Cheap if no worker sleeps. */
  readonly wake: Effect.Effect<void>
  /** Creates a latch that every `wake` opens until the scope closes. The worker closes it before each poll. */
  readonly subscribe: Effect.Effect<Latch.Latch, never, Scope.Scope>
}

/** Options for `make`: hooks to other processes. */
export interface WakingOptions {
  /**
   * Notifies other processes. Runs after each commit that made work, before its caller
   * continues, so it should only schedule a notification and send one for many.
   */
  readonly publish?: Effect.Effect<void> | undefined
  /** Notifications of other processes. Each element wakes the workers of this process. Runs while there are workers. */
  readonly subscribe?: Stream.Stream<unknown> | undefined
}

/** Creates a `Waking` that listens to other processes until the scope closes. */
export const make = Effect.fnUntraced(
  function*({ publish = Effect.void, subscribe = Stream.empty }: WakingOptions): Effect.fn.Return<
    Waking,
    never,
    Scope.Scope
  > {
    const latches = new Set<Latch.Latch>()
    const wakeHere = Effect.sync(() => latches.forEach((latch) => latch.openUnsafe()))
    const listening = yield* RcRef.make({
      acquire: Effect.forkScoped(Stream.runForEach(subscribe, () => wakeHere), { startImmediately: true })
    })
    return {
      wake: Effect.andThen(wakeHere, publish),
      subscribe: Effect.acquireRelease(
        Effect.sync(() => {
          const latch = Latch.makeUnsafe(false)
          latches.add(latch)
          return latch
        }),
        (latch) => Effect.sync(() => latches.delete(latch))
      ).pipe(Effect.tap(() => RcRef.get(listening)))
    }
  }
)
