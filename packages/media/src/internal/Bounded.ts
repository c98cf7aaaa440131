/** Limits concurrent work that cannot be interrupted, for callers that can. */
import { Effect, Fiber, Scope } from "effect"
import type { Turns } from "../Turns.ts"

/**
 * Creates a function that runs effects when it is their turn. An interrupted caller
 * returns immediately. If its work has not started, it never starts; otherwise the work
 * keeps its place until it ends, so interrupted callers cannot raise the concurrency.
 * Closing the scope waits for running work.
 */
export const make = Effect.fnUntraced(function*(turns: Turns) {
  const scope = yield* Scope.Scope

  return <A, E>(work: Effect.Effect<A, E>, owner = ""): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        Effect.forkIn(turns(owner)(Effect.uninterruptible(work)), scope, { startImmediately: true }),
        (fiber) => Effect.onInterrupt(restore(Fiber.join(fiber)), () => Effect.sync(() => fiber.interruptUnsafe()))
      )
    )
})
