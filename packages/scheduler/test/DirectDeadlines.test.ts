/** Statements without a unit of work whose database does not respond. */
import { assert, it, vi } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Duration, Effect, Fiber, Layer } from "effect"
import { makeWorld, takeLease } from "../src/internal/contract/world.ts"
import * as MemorySchedulerStore from "../src/MemorySchedulerStore.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import * as Wakeup from "../src/Wakeup.ts"

it.live("fail like units of work, and calls behind them run", () =>
  Effect.gen(function*() {
    const scheduler = yield* Scheduler.Scheduler
    const { handovers } = yield* Wakeup.Wakeup
    const { claim, job } = yield* makeWorld
    const lease = yield* takeLease("1 hour")
    yield* scheduler.enqueue(job({ cap: 2 }))
    const [running] = yield* claim({ ttl: "1 hour" })
    const remove = handovers.add(() =>
      Effect.succeed({ lease, worker: "test", start: () => Effect.void, release: Effect.void })
    )
    for (const call of [scheduler.settle(running!), scheduler.enqueue(job({ cap: 2 }))]) {
      const fiber = yield* Effect.forkChild(Effect.flip(call), { startImmediately: true })
      yield* Effect.promise(() => vi.advanceTimersByTimeAsync(9_999))
      assert.isUndefined(fiber.pollUnsafe())
      yield* Effect.promise(() => vi.advanceTimersByTimeAsync(1))
      assert.isDefined(fiber.pollUnsafe())
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "StorageError", reason: "unavailable" })
    }
    remove()
    assert.strictEqual((yield* scheduler.enqueue(job({ cap: 2 }))).state, "queued")
  }).pipe(Effect.provide(silentOver(UnitOfWork.layerMemory)), withFakeTimers))

it.live("have the deadline of units of work", () =>
  Effect.gen(function*() {
    const scheduler = yield* Scheduler.Scheduler
    const { claim, job } = yield* makeWorld
    yield* scheduler.enqueue(job())
    const [running] = yield* claim({ ttl: "1 hour" })
    const fiber = yield* Effect.forkChild(Effect.flip(scheduler.settle(running!)), { startImmediately: true })
    yield* Effect.promise(() => vi.advanceTimersByTimeAsync(59_999))
    assert.isUndefined(fiber.pollUnsafe())
    yield* Effect.promise(() => vi.advanceTimersByTimeAsync(1))
    assert.deepInclude(yield* Fiber.join(fiber), { _tag: "StorageError", reason: "unavailable" })
  }).pipe(Effect.provide(silentOver(patient)), withFakeTimers))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A store in memory whose single statements do not end. */
const silentOver = (units: typeof UnitOfWork.layerMemory) =>
  Scheduler.layerWith().pipe(
    Layer.provideMerge(Layer.merge(
      Layer.effect(
        SchedulerStore,
        Effect.map(
          SchedulerStore,
          (store) => ({ ...store, end: () => Effect.never, enqueueLeased: () => Effect.never })
        )
      ).pipe(Layer.provide(MemorySchedulerStore.layer)),
      Wakeup.layer
    )),
    Layer.provideMerge(units)
  )

/** Units of work in memory that state a deadline of a minute. */
const patient = Layer.effect(
  UnitOfWork.UnitOfWork,
  Effect.map(UnitOfWork.UnitOfWork, (units) => ({ ...units, deadline: Duration.minutes(1) }))
).pipe(Layer.provideMerge(UnitOfWork.layerMemory))

const withFakeTimers = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] })),
    () => effect,
    () => Effect.sync(() => vi.useRealTimers())
  )
