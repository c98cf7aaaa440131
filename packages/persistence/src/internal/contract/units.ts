/** Tests of units that commit or roll back. */
import { assert } from "@effect/vitest"
import { Cause, Data, Deferred, Effect, Exit, Fiber } from "effect"
import { UnitOfWork } from "../../UnitOfWork.ts"
import { Cells } from "./cells.ts"
import type { Register } from "./tests.ts"

/** A failure of the body of a unit. */
export class Refused extends Data.TaggedError("Refused")<{}> {}

/** Registers tests of units that succeed, fail and die. */
export const unitTests = (test: Register): void => {
  test("commits all writes together, and returns the value of the body", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const value = yield* atomically(
        put("commit-a", 1).pipe(Effect.andThen(put("commit-b", 2)), Effect.andThen(get("commit-a")))
      )
      assert.strictEqual(value, 1)
      assert.deepStrictEqual([yield* get("commit-a"), yield* get("commit-b")], [1, 2])
    }))

  test("undoes all writes when the body fails", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      yield* put("fail", 1)
      const body = put("fail", 2).pipe(Effect.andThen(put("fail-new", 2)), Effect.andThen(Effect.fail(new Refused())))
      assert.instanceOf(yield* Effect.flip(atomically(body)), Refused)
      assert.deepStrictEqual([yield* get("fail"), yield* get("fail-new")], [1, undefined])
    }))

  test("undoes all writes when the body dies", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const exit = yield* Effect.exit(atomically(Effect.andThen(put("die", 1), Effect.die("bug"))))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      assert.isUndefined(yield* get("die"))
    }))

  test("works again after a unit was rolled back", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      yield* Effect.flip(atomically(Effect.andThen(put("again", 1), Effect.fail(new Refused()))))
      yield* atomically(put("again", 2))
      assert.strictEqual(yield* get("again"), 2)
    }))

  test("returns whether the fiber is inside a unit", () =>
    Effect.gen(function*() {
      const { afterCommit, atomically, isOpen } = yield* UnitOfWork
      assert.isFalse(yield* isOpen)
      assert.isTrue(yield* atomically(isOpen))
      assert.isTrue(yield* atomically(Effect.andThen(atomically(Effect.void), isOpen)))
      let openAfterCommit: boolean | undefined
      yield* atomically(afterCommit(Effect.map(isOpen, (open) => {
        openAfterCommit = open
      })))
      assert.isFalse(openAfterCommit)
      assert.isFalse(yield* isOpen)
    }))
}

/** Registers tests of units whose fiber is interrupted. */
export const interruptionTests = (test: Register): void => {
  test("undoes all writes when the fiber is interrupted", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      const written = yield* Deferred.make<void>()
      const body = put("interrupt", 1).pipe(
        Effect.andThen(Deferred.succeed(written, undefined)),
        Effect.andThen(Effect.never)
      )
      const fiber = yield* Effect.forkChild(atomically(body))
      yield* Deferred.await(written)
      yield* Fiber.interrupt(fiber)
      assert.isUndefined(yield* get("interrupt"))
      yield* atomically(put("interrupt", 2))
      assert.strictEqual(yield* get("interrupt"), 2)
    }))

  test("drops the callbacks of a unit whose fiber is interrupted", () =>
    Effect.gen(function*() {
      const { afterCommit, atomically } = yield* UnitOfWork
      const registered = yield* Deferred.make<void>()
      let ran = false
      const body = afterCommit(Effect.sync(() => {
        ran = true
      })).pipe(Effect.andThen(Deferred.succeed(registered, undefined)), Effect.andThen(Effect.never))
      const fiber = yield* Effect.forkChild(atomically(body))
      yield* Deferred.await(registered)
      yield* Fiber.interrupt(fiber)
      yield* atomically(Effect.void)
      assert.isFalse(ran)
    }))
}
