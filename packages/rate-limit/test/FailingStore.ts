/** A store that fails in the middle of a set. */
import { StorageError, type StorageFailure } from "@kinora/persistence/StorageError"
import { Deferred, Effect } from "effect"
import { RateLimitStore } from "../src/RateLimitStore.ts"

/** Creates a store like the surrounding one. Its first `take` waits for the gate, and its third one fails. */
export const make = Effect.fnUntraced(function*(reason: StorageFailure) {
  const store = yield* RateLimitStore
  const started = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  let calls = 0
  const failing = RateLimitStore.of({
    ...store,
    take: (kind, demands) =>
      Effect.suspend(() => {
        calls++
        if (calls === 3) {
          return Effect.fail(
            new StorageError({ operation: "RateLimitStore.take", reason, cause: new Error("Injected") })
          )
        }
        const taken = store.take(kind, demands)
        return calls > 1 ? taken : Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.andThen(taken)
        )
      })
  })
  return { store: failing, started, gate }
})
