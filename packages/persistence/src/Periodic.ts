/** Periodic work of a layer, which runs only while there is something to do. */
import { type Duration, Effect, Latch, type Scope } from "effect"

/** Options for `make`. */
export interface PeriodicOptions<R> {
  /** The time before each run. */
  readonly every: Duration.Input
  /** Returns whether there is nothing to do. The work then pauses until `start`. */
  readonly isIdle: () => boolean
  /** The work. It must not fail, so log its errors. */
  readonly run: Effect.Effect<void, never, R>
}

/** Periodic work. */
export interface Periodic {
  /** Begins the runs, unless they have begun. Call it when there is something to do. */
  readonly start: () => void
}

/**
 * Creates periodic work that ends with the scope. It runs in a fiber of the scope's owner, so a call of `start` in a
 * transaction does not make it a part of the transaction.
 */
export const make = Effect.fnUntraced(function*<R>(
  { every, isIdle, run }: PeriodicOptions<R>
): Effect.fn.Return<Periodic, never, R | Scope.Scope> {
  const isBusy = Latch.makeUnsafe(false)
  const runOrPause = Effect.suspend(() => {
    if (!isIdle()) return run
    isBusy.closeUnsafe()
    return Effect.void
  })
  yield* isBusy.await.pipe(
    Effect.andThen(Effect.sleep(every)),
    Effect.andThen(runOrPause),
    Effect.forever,
    Effect.forkScoped
  )
  return { start: () => void isBusy.openUnsafe() }
})
