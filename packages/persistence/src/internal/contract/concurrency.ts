/** Tests of concurrent units. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { UnitOfWork } from "../../UnitOfWork.ts"
import { Cells } from "./cells.ts"
import type { Register } from "./tests.ts"
import { Refused } from "./units.ts"

/** Registers tests of units that change the same cell. */
export const concurrentTests = (test: Register): void => {
  test("loses no update of concurrent units", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, lock, put } = yield* Cells
      yield* put("race", 0)
      const increment = atomically(Effect.flatMap(lock("race"), (value) => put("race", (value ?? 0) + 1)))
      yield* Effect.forEach(Array.from({ length: 20 }), () => increment, { concurrency: "unbounded", discard: true })
      assert.strictEqual(yield* get("race"), 20)
    }))
}

/** Registers tests of what others see of an open unit. */
export const isolationTests = (test: Register): void => {
  test("hides uncommitted writes from readers outside of the unit", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const written = yield* Deferred.make<void>()
      const mayFail = yield* Deferred.make<void>()
      const body = put("hidden", 1).pipe(
        Effect.andThen(Deferred.succeed(written, undefined)),
        Effect.andThen(Deferred.await(mayFail)),
        // The unit is open while the readers begin their own and read.
        Effect.andThen(Effect.repeat(get("hidden"), { times: 50 })),
        Effect.andThen(Effect.fail(new Refused()))
      )
      const writer = yield* Effect.forkChild(Effect.flip(atomically(body)))
      yield* Deferred.await(written)
      // On a storage with one connection they wait for the unit.
      const readers = yield* Effect.forEach(
        [get("hidden"), atomically(get("hidden"))],
        (read) => Effect.forkChild(read, { startImmediately: true })
      )
      yield* Deferred.succeed(mayFail, undefined)
      yield* Fiber.join(writer)
      assert.deepStrictEqual(yield* Effect.forEach(readers, Fiber.join), [undefined, undefined])
    }))
}
