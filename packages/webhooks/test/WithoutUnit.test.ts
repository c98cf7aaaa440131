import { assert, describe, it, vi } from "@effect/vitest"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import { Effect, Fiber } from "effect"
import { withoutUnit } from "../src/internal/sql/withoutUnit.ts"

const failing = (reason: "conflict" | "unavailable") =>
  new StorageError.StorageError({ operation: "test", reason, cause: "test" })

describe("withoutUnit", () => {
  it.effect("opens no unit, and returns the failure of the effect", () =>
    Effect.gen(function*() {
      const unitOfWork = yield* UnitOfWork.UnitOfWork
      const run = <A>(effect: Effect.Effect<A, StorageError.StorageError>) => withoutUnit(unitOfWork, "test", effect)
      assert.isFalse(yield* run(unitOfWork.isOpen))
      assert.deepInclude(yield* Effect.flip(run(failing("unavailable"))), { reason: "unavailable" })
    }).pipe(Effect.provide(UnitOfWork.layerMemory)))

  it.effect("runs again in a unit after a conflict", () =>
    Effect.gen(function*() {
      const unitOfWork = yield* UnitOfWork.UnitOfWork
      const runs: Array<boolean> = []
      const effect = Effect.flatMap(unitOfWork.isOpen, (isOpen) => {
        runs.push(isOpen)
        return isOpen ? Effect.succeed("done") : failing("conflict")
      })
      assert.strictEqual(yield* withoutUnit(unitOfWork, "test", effect), "done")
      assert.deepStrictEqual(runs, [false, true])
    }).pipe(Effect.provide(UnitOfWork.layerMemory)))

  it.effect("joins an open unit", () =>
    Effect.gen(function*() {
      const unitOfWork = yield* UnitOfWork.UnitOfWork
      assert.isTrue(yield* unitOfWork.atomically(withoutUnit(unitOfWork, "test", unitOfWork.isOpen)))
    }).pipe(Effect.provide(UnitOfWork.layerMemory)))

  it.live("fails after 10 seconds, like a unit", () =>
    Effect.gen(function*() {
      const unitOfWork = yield* UnitOfWork.UnitOfWork
      const fiber = yield* Effect.forkChild(Effect.flip(withoutUnit(unitOfWork, "test", Effect.never)), {
        startImmediately: true
      })
      yield* Effect.promise(() => vi.advanceTimersByTimeAsync(9_999))
      assert.isUndefined(fiber.pollUnsafe())
      yield* Effect.promise(() => vi.advanceTimersByTimeAsync(1))
      assert.isDefined(fiber.pollUnsafe())
      assert.deepInclude(yield* Fiber.join(fiber), { operation: "test", reason: "unavailable" })
    }).pipe(Effect.provide(UnitOfWork.layerMemory), withFakeTimers))
})

const withFakeTimers = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] })),
    () => effect,
    () => Effect.sync(() => vi.useRealTimers())
  )
