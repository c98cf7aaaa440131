/** Tests of what runs after the commit. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { UnitOfWork } from "../../UnitOfWork.ts"
import { Cells } from "./cells.ts"
import type { Register } from "./tests.ts"
import { Refused } from "./units.ts"

/** Registers tests of the order of callbacks. */
export const callbackOrderTests = (test: Register): void => {
  test("runs callbacks after the outermost commit, in order", () =>
    Effect.gen(function*() {
      const { afterCommit, atomically } = yield* UnitOfWork
      const seen: Array<string> = []
      const note = (text: string) => Effect.sync(() => void seen.push(text))
      yield* atomically(Effect.gen(function*() {
        yield* afterCommit(note("first"))
        yield* atomically(afterCommit(note("second")))
        yield* afterCommit(note("third"))
        yield* note("body")
      }))
      assert.deepStrictEqual(seen, ["body", "first", "second", "third"])
    }))

  test("drops callbacks of a unit that rolled back", () =>
    Effect.gen(function*() {
      const { afterCommit, atomically } = yield* UnitOfWork
      const seen: Array<string> = []
      const note = Effect.sync(() => void seen.push("ran"))
      yield* Effect.flip(atomically(Effect.andThen(afterCommit(note), Effect.fail(new Refused()))))
      yield* atomically(Effect.void)
      assert.deepStrictEqual(seen, [])
      yield* afterCommit(note)
      assert.deepStrictEqual(seen, ["ran"])
    }))

  test("runs the callbacks of each of two concurrent units with its own commit", () =>
    Effect.gen(function*() {
      const { afterCommit, atomically } = yield* UnitOfWork
      const seen: Array<string> = []
      const note = (text: string) => afterCommit(Effect.sync(() => void seen.push(text)))
      const registered = yield* Deferred.make<void>()
      const mayFail = yield* Deferred.make<void>()
      const failing = note("failed").pipe(
        Effect.andThen(Deferred.succeed(registered, undefined)),
        Effect.andThen(Deferred.await(mayFail)),
        Effect.andThen(Effect.fail(new Refused()))
      )
      const failed = yield* Effect.forkChild(Effect.flip(atomically(failing)))
      yield* Deferred.await(registered)
      // On a storage with one connection it waits for the first unit.
      const committed = yield* Effect.forkChild(atomically(note("committed")), { startImmediately: true })
      yield* Deferred.succeed(mayFail, undefined)
      yield* Fiber.join(failed)
      yield* Fiber.join(committed)
      assert.deepStrictEqual(seen, ["committed"])
    }))
}

/** Registers tests of what callbacks do. */
export const callbackTests = (test: Register): void => {
  test("shows callbacks what the unit has committed", () =>
    Effect.gen(function*() {
      const { afterCommit, atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      let seen: number | undefined
      yield* atomically(Effect.gen(function*() {
        yield* afterCommit(Effect.orDie(Effect.map(get("shown"), (value) => {
          seen = value
        })))
        yield* put("shown", 1)
      }))
      assert.strictEqual(seen, 1)
    }))

  test("runs a unit of a callback as a unit of its own", () =>
    Effect.gen(function*() {
      const { afterCommit, atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      yield* atomically(afterCommit(Effect.orDie(atomically(put("callback", 1)))))
      assert.strictEqual(yield* get("callback"), 1)
      // One of its own: what fails in it is undone.
      const failing = atomically(Effect.andThen(put("callback", 2), Effect.fail(new Refused())))
      yield* atomically(afterCommit(Effect.ignore(failing)))
      assert.strictEqual(yield* get("callback"), 1)
    }))

  test("runs the other callbacks when one dies, after the unit has committed", () =>
    Effect.gen(function*() {
      const { afterCommit, atomically } = yield* UnitOfWork
      const { get, put } = yield* Cells
      let ran = false
      yield* atomically(Effect.gen(function*() {
        yield* put("dying", 1)
        yield* afterCommit(Effect.die("bug"))
        yield* afterCommit(Effect.sync(() => {
          ran = true
        }))
      }))
      assert.isTrue(ran)
      assert.strictEqual(yield* get("dying"), 1)
    }))
}
