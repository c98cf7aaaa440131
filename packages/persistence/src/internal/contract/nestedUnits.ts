/** Tests of units inside of units. */
import { assert } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { UnitDoomed, UnitEnded, UnitOfWork } from "../../UnitOfWork.ts"
import { Cells } from "./cells.ts"
import type { Register } from "./tests.ts"
import { Refused } from "./units.ts"

/** Registers tests of nested units. */
export const nestedTests = (test: Register): void => {
  test("joins the open unit when nested", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const body = Effect.andThen(atomically(put("nested", 1)), Effect.fail(new Refused()))
      yield* Effect.flip(atomically(body))
      assert.isUndefined(yield* get("nested"))
    }))

  test("shows a nested unit what the open one has written, and the open one what the nested one has", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const seen = yield* atomically(Effect.gen(function*() {
        yield* put("outer", 1)
        const outer = yield* atomically(Effect.andThen(put("inner", 2), get("outer")))
        return [outer, yield* get("inner")]
      }))
      assert.deepStrictEqual(seen, [1, 2])
      assert.deepStrictEqual([yield* get("outer"), yield* get("inner")], [1, 2])
    }))

  test("rolls the whole unit back when the failure of a nested unit is recovered", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const nested = atomically(Effect.andThen(put("doomed", 1), Effect.fail(new Refused())))
      const exit = yield* Effect.exit(atomically(Effect.andThen(put("doomed-outer", 1), Effect.ignore(nested))))
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnitDoomed)
      assert.deepStrictEqual([yield* get("doomed"), yield* get("doomed-outer")], [undefined, undefined])
    }))

  test("runs concurrent nested units one after the other, so that they lose no update", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const increment = atomically(Effect.gen(function*() {
        const value = (yield* get("nested-race")) ?? 0
        yield* Effect.yieldNow
        // A unit inside a nested one does not wait for the one that it is in.
        yield* atomically(put("nested-race", value + 1))
      }))
      yield* atomically(Effect.replicateEffect(increment, 20, { concurrency: "unbounded", discard: true }))
      assert.strictEqual(yield* get("nested-race"), 20)
    }))
}

/** Registers tests of fibers that outlive their unit. */
export const endedTests = (test: Register): void => {
  test("dies when a fiber that outlives a unit joins it", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const ended = yield* Deferred.make<void>()
      const late = yield* atomically(
        Deferred.await(ended).pipe(
          Effect.andThen(atomically(put("late", 1))),
          Effect.exit,
          Effect.forkDetach({ startImmediately: true })
        )
      )
      yield* Deferred.succeed(ended, undefined)
      const exit = yield* Fiber.join(late)
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnitEnded)
      assert.isUndefined(yield* get("late"))
    }))
}
