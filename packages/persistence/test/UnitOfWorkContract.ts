import { assert, layer } from "@effect/vitest"
import { Cause, Data, Deferred, Effect, Exit, Fiber, type Layer } from "effect"
import { UnitDoomed, UnitEnded, UnitOfWork } from "../src/UnitOfWork.ts"
import { Cells } from "./Cells.ts"

class Refused extends Data.TaggedError("Refused")<{}> {}

/** The contract of `UnitOfWork`, for every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<UnitOfWork | Cells, E>) =>
  layer(backend)(`UnitOfWork (${name})`, (it) => {
    it.effect("commits all writes together", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork
        const { get, put } = yield* Cells
        yield* atomically(Effect.andThen(put("commit-a", 1), put("commit-b", 2)))
        assert.deepStrictEqual([yield* get("commit-a"), yield* get("commit-b")], [1, 2])
      }))

    it.effect("undoes all writes when the body fails", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork
        const { get, put } = yield* Cells
        yield* put("fail", 1)
        const body = Effect.andThen(put("fail", 2), Effect.fail(new Refused()))
        assert.instanceOf(yield* Effect.flip(atomically(body)), Refused)
        assert.strictEqual(yield* get("fail"), 1)
      }))

    it.effect("undoes all writes when the body dies", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork
        const { get, put } = yield* Cells
        const exit = yield* Effect.exit(atomically(Effect.andThen(put("die", 1), Effect.die("bug"))))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
        assert.isUndefined(yield* get("die"))
      }))

    it.effect("undoes all writes when the fiber is interrupted", () =>
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
      }))

    it.effect("joins the open unit when nested", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork
        const { get, put } = yield* Cells
        const body = Effect.andThen(atomically(put("nested", 1)), Effect.fail(new Refused()))
        yield* Effect.flip(atomically(body))
        assert.isUndefined(yield* get("nested"))
      }))

    it.effect("rolls the whole unit back when the failure of a nested unit is recovered", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork
        const { get, put } = yield* Cells
        const nested = atomically(Effect.andThen(put("doomed", 1), Effect.fail(new Refused())))
        const exit = yield* Effect.exit(atomically(Effect.ignore(nested)))
        assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnitDoomed)
        assert.isUndefined(yield* get("doomed"))
      }))

    it.effect("works again after a unit was rolled back", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork
        const { get, put } = yield* Cells
        yield* Effect.flip(atomically(Effect.fail(new Refused())))
        yield* atomically(put("again", 1))
        assert.strictEqual(yield* get("again"), 1)
      }))

    it.effect("runs callbacks after the outermost commit, in order", () =>
      Effect.gen(function*() {
        const { afterCommit, atomically } = yield* UnitOfWork
        const seen: Array<string> = []
        const note = (text: string) => Effect.sync(() => void seen.push(text))
        yield* atomically(Effect.gen(function*() {
          yield* afterCommit(note("first"))
          yield* atomically(afterCommit(note("second")))
          yield* note("body")
        }))
        assert.deepStrictEqual(seen, ["body", "first", "second"])
      }))

    it.effect("drops callbacks of a unit that rolled back", () =>
      Effect.gen(function*() {
        const { afterCommit, atomically } = yield* UnitOfWork
        const seen: Array<string> = []
        const note = Effect.sync(() => void seen.push("ran"))
        yield* Effect.flip(atomically(Effect.andThen(afterCommit(note), Effect.fail(new Refused()))))
        assert.deepStrictEqual(seen, [])
        yield* afterCommit(note)
        assert.deepStrictEqual(seen, ["ran"])
      }))

    it.effect("runs a unit of a callback as a unit of its own", () =>
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

    it.effect("runs the other callbacks when one dies, after the unit has committed", () =>
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

    it.effect("loses no update of concurrent units", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork
        const { get, lock, put } = yield* Cells
        yield* put("race", 0)
        const increment = atomically(Effect.flatMap(lock("race"), (value) => put("race", (value ?? 0) + 1)))
        yield* Effect.forEach(Array.from({ length: 100 }), () => increment, { concurrency: "unbounded", discard: true })
        assert.strictEqual(yield* get("race"), 100)
      }))

    it.effect("runs concurrent nested units one after the other, so that they lose no update", () =>
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

    it.effect("dies when a fiber that outlives a unit joins it", () =>
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

    it.effect("returns whether the fiber is inside a unit", () =>
      Effect.gen(function*() {
        const { afterCommit, atomically, isOpen } = yield* UnitOfWork
        assert.isFalse(yield* isOpen)
        assert.isTrue(yield* atomically(isOpen))
        let openAfterCommit: boolean | undefined
        yield* atomically(afterCommit(Effect.map(isOpen, (open) => {
          openAfterCommit = open
        })))
        assert.isFalse(openAfterCommit)
      }))
  })
