/** Limits concurrent work that cannot be interrupted, for callers that can. */
import { Effect, Fiber, Scheduler, Scope, Semaphore } from "effect"

/**
 * Creates a function that runs at most `concurrency` effects at the same time. An
 * interrupted caller returns immediately. If its work has not started, it never starts;
 * otherwise the work keeps its permit until it ends, so interrupted callers cannot raise
 * the concurrency. Closing the scope waits for running work.
 */
export const make = Effect.fnUntraced(function*(concurrency: number) {
  const scope = yield* Scope.Scope
  const permits = Semaphore.makeUnsafe(concurrency)

  return <A, E>(work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) =>
      // A fiber that yields right after it took a permit can be interrupted there, and the permit is lost. Without
      // yields it can be interrupted only while it waits.
      Effect.provideService(restore(permits.take(1)), Scheduler.PreventSchedulerYield, true).pipe(
        Effect.andThen(Effect.forkIn(Effect.ensuring(work, permits.release(1)), scope, {
          startImmediately: true,
          uninterruptible: true
        })),
        Effect.flatMap((fiber) => restore(Fiber.join(fiber)))
      )
    )
})
