/** Follows requests up to the steps that they run before their unit of work. */
import { Deferred, Effect } from "effect"
import { Preparation } from "../src/CreateCommand.ts"

/**
 * Follows requests until they have started this many steps: one for the images of a request and one for its verdict,
 * each if it has any, which start with the wait for a turn. `reached` completes when all have come as far as they can
 * without others.
 */
export const follow = Effect.fnUntraced(function*(steps: number) {
  const isReached = yield* Deferred.make<void>()
  let left = steps
  const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      if (--left === 0) Deferred.doneUnsafe(isReached, Effect.void)
      return effect
    })
  return {
    reached: Effect.andThen(Deferred.await(isReached), Effect.replicateEffect(Effect.yieldNow, 10, { discard: true })),
    following: Effect.provideService(Preparation, { run })
  }
})
