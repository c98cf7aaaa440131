/** Bounds work that cannot be stopped, for callers that can. */
import { Effect, Fiber, Scheduler, Scope, Semaphore } from "effect"

/**
 * Runs at most `concurrency` works at the same time. A caller that is interrupted
 * leaves at once: while it waits its work never starts, and later the work keeps its
 * permit until it is over, so callers that come and go never have more of it under
 * way. The scope's end waits for the works that run.
 */
export const make = Effect.fnUntraced(function*(concurrency: number) {
  const scope = yield* Scope.Scope
  const permits = Semaphore.makeUnsafe(concurrency)

  return <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) =>
      // A fiber that yields when it has just taken a permit can be interrupted then, and the permit is lost. One
      // that does not yield by itself is only interrupted while it waits.
      Effect.provideService(restore(permits.take(1)), Scheduler.PreventSchedulerYield, true).pipe(
        Effect.andThen(Effect.forkIn(Effect.ensuring(work, permits.release(1)), scope, {
          startImmediately: true,
          uninterruptible: true
        })),
        Effect.flatMap((fiber) => restore(Fiber.join(fiber)))
      )
    )
})
