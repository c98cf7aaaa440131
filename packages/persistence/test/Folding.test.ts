import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Folding from "../src/Folding.ts"
import { StorageError } from "../src/StorageError.ts"
import { layerMemory, UnitOfWork } from "../src/UnitOfWork.ts"

/** A fold whose sets wait for the test, and which remembers them. */
const makeGated = Effect.fnUntraced(function*(membersMax: number) {
  const sets: Array<ReadonlyArray<number>> = []
  const started = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const call = Folding.make<number, number, StorageError>({
    name: "test",
    membersMax,
    run: (commands) => {
      sets.push(commands)
      return Deferred.succeed(started, undefined).pipe(
        Effect.andThen(Deferred.await(gate)),
        Effect.as(commands.map((command) => command * 10))
      )
    }
  })
  return { call, sets, started, open: Deferred.succeed(gate, undefined) }
})

const failed = (reason: StorageError["reason"]) => new StorageError({ operation: "test", reason, cause: "test" })

it.effect("runs a call at once when idle, and folds those that come meanwhile", () =>
  Effect.gen(function*() {
    const { call, open, sets, started } = yield* makeGated(64)
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach([2, 3, 4], (n) => Effect.forkChild(call(n), { startImmediately: true }))
    yield* open
    assert.strictEqual(yield* Fiber.join(first), 10)
    assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), [20, 30, 40])
    assert.deepStrictEqual(sets, [[1], [2, 3, 4]])
  }))

it.effect("never puts more than the maximum into a set", () =>
  Effect.gen(function*() {
    const { call, open, sets, started } = yield* makeGated(10)
    const first = yield* Effect.forkChild(call(0))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach(
      Array.from({ length: 35 }, (_, n) => n + 1),
      (n) => Effect.forkChild(call(n), { startImmediately: true })
    )
    yield* open
    yield* Fiber.join(first)
    yield* Effect.forEach(others, Fiber.join)
    assert.isTrue(sets.every((set) => set.length <= 10))
    assert.strictEqual(sets.flat().length, 36)
  }))

it.effect("runs the commands one by one when the set failed as a whole", () =>
  Effect.gen(function*() {
    const started = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const call = Folding.make<number, number, StorageError>({
      name: "test",
      run: (commands) =>
        Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.andThen(commands.includes(13) ? Effect.fail(failed("failed")) : Effect.succeed(commands))
        )
    })
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach([2, 13, 4], (n) =>
      Effect.forkChild(Effect.exit(call(n)), { startImmediately: true }))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    const exits = yield* Effect.forEach(others, Fiber.join)
    assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
  }))

it.effect("does not run a set again whose outcome is unknown", () =>
  Effect.gen(function*() {
    let runs = 0
    const started = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const call = Folding.make<number, number, StorageError>({
      name: "test",
      run: (commands) => {
        runs++
        return commands.length === 1
          ? Deferred.succeed(started, undefined).pipe(Effect.andThen(Deferred.await(gate)), Effect.as(commands))
          : Effect.fail(failed("unavailable"))
      }
    })
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const others = yield* Effect.forEach([2, 3], (n) =>
      Effect.forkChild(Effect.exit(call(n)), { startImmediately: true }))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    const exits = yield* Effect.forEach(others, Fiber.join)
    assert.deepStrictEqual(exits.map(Exit.isSuccess), [false, false])
    assert.strictEqual(runs, 2)
  }))

it.effect("lets the others of a set go on when one caller is interrupted", () =>
  Effect.gen(function*() {
    const { call, open, started } = yield* makeGated(64)
    const first = yield* Effect.forkChild(call(1))
    yield* Deferred.await(started)
    const leaving = yield* Effect.forkChild(call(2), { startImmediately: true })
    const staying = yield* Effect.forkChild(call(3), { startImmediately: true })
    yield* Fiber.interrupt(first)
    yield* Fiber.interrupt(leaving)
    yield* open
    assert.strictEqual(yield* Fiber.join(staying), 30)
  }))

it.effect("runs a command of an open unit in that unit", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const { call, open, sets } = yield* makeGated(64)
    yield* open
    yield* atomically(Effect.forEach([1, 2], call, { concurrency: 2 }))
    assert.deepStrictEqual(sets, [[1], [2]])
  }).pipe(Effect.provide(layerMemory)))
