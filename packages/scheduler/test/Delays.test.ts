import { assert, it } from "@effect/vitest"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import { Data, DateTime, Duration, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { ids, makeWorld, stateOf } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as MemorySchedulerStore from "../src/MemorySchedulerStore.ts"
import { layerWith, Scheduler } from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import * as Wakeup from "../src/Wakeup.ts"
import { memory, startWorker } from "./Fixture.ts"

class Busy extends Data.TaggedError("Busy") {}

type Store = SchedulerStore["Service"]

/** A scheduler over a store with changed methods. */
const over = (change: (store: Store) => Partial<Store>) => {
  const changed = Layer.effect(SchedulerStore, Effect.map(SchedulerStore, (store) => ({ ...store, ...change(store) })))
  return layerWith().pipe(
    Layer.provideMerge(Layer.merge(Layer.provide(changed, MemorySchedulerStore.layer), Wakeup.layer)),
    Layer.provideMerge(UnitOfWork.layerMemory)
  )
}

it.effect("places the due jobs of other groups although those of one group cannot be placed", () => {
  let isBroken = true
  const broken = over(({ apply }) => ({
    apply: (changes) =>
      isBroken && changes.enqueued.some(({ group }) => group.endsWith("-broken"))
        ? Effect.die(new Error("a bug"))
        : apply(changes)
  }))
  return Effect.gen(function*() {
    const scheduler = yield* Scheduler
    const world = yield* makeWorld
    const own = { lane: `${world.lane}-broken`, group: `${world.group}-broken` }
    const stuck = yield* Effect.forEach(
      [1, 2, 3],
      () => scheduler.enqueue({ ...world.job(own), delay: "1 second" })
    )
    const other = yield* scheduler.enqueue({ ...world.job(), delay: "2 seconds" })
    yield* TestClock.adjust("2 seconds")
    // Sets of two: the first one contains only jobs that cannot be placed.
    for (const _ of [1, 2]) assert.strictEqual(yield* scheduler.enqueueDue(2), 2)
    assert.strictEqual(yield* scheduler.enqueueDue(2), 0)
    assert.strictEqual(yield* stateOf(other.job), "queued")
    isBroken = false
    yield* TestClock.adjust("1 minute")
    assert.strictEqual(yield* scheduler.enqueueDue(10), 3)
    assert.deepStrictEqual(yield* Effect.forEach(ids(stuck), stateOf), ["queued", "pending", "pending"])
    assert.deepStrictEqual(yield* scheduler.verify, [])
  }).pipe(Effect.provide(broken))
})

it.effect("fails, and leaves due jobs as they are, while the storage is unavailable", () => {
  let isAway = true
  const away = over(({ apply }) => ({
    apply: (changes) =>
      isAway
        ? Effect.fail(new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" }))
        : apply(changes)
  }))
  return Effect.gen(function*() {
    const scheduler = yield* Scheduler
    const world = yield* makeWorld
    isAway = false
    const { job } = yield* scheduler.enqueue({ ...world.job(), delay: "1 second" })
    isAway = true
    yield* TestClock.adjust("1 second")
    assert.strictEqual((yield* Effect.flip(scheduler.enqueueDue(10))).reason, "unavailable")
    isAway = false
    assert.strictEqual(yield* scheduler.enqueueDue(10), 1)
    assert.strictEqual(yield* stateOf(job), "queued")
  }).pipe(Effect.provide(away))
})

it.effect("looks for due jobs with one statement while none is due", () => {
  const calls: Array<string> = []
  const counted = over(({ due, dueIn }) => ({
    due: (limit, except) => Effect.tap(due(limit, except), () => Effect.sync(() => calls.push("due"))),
    dueIn: Effect.tap(dueIn, () => Effect.sync(() => calls.push("dueIn")))
  }))
  return Effect.gen(function*() {
    const scheduler = yield* Scheduler
    const world = yield* makeWorld
    const handler = JobHandler.make({ kind: world.kind, run: () => Effect.void, failed: () => Effect.void })
    yield* startWorker({ name: "worker", handlers: [handler] })
    yield* scheduler.enqueue({ ...world.job(), delay: "1 hour" })
    yield* TestClock.adjust("10 seconds")
    assert.isAtLeast(calls.length, 3)
    assert.notInclude(calls, "due")
  }).pipe(Effect.scoped, Effect.provide(counted))
})

it.effect("varies the default pauses, so that jobs that fail together do not run together again", () =>
  Effect.gen(function*() {
    const scheduler = yield* Scheduler
    const world = yield* makeWorld
    const handler = JobHandler.make({
      kind: world.kind,
      run: () => Effect.fail(new Busy()),
      failed: () => Effect.void,
      retry: { attempts: 100 }
    })
    yield* startWorker({ name: "worker", handlers: [handler], concurrency: 20 })
    const start = yield* DateTime.now
    const jobs = yield* Effect.forEach(Array.from({ length: 20 }), () => scheduler.enqueue(world.job({ cap: 20 })))
    yield* TestClock.adjust(0)
    const pauses = (yield* scheduler.find(ids(jobs))).map(({ dueAt }) =>
      Duration.toMillis(DateTime.distance(start, Option.getOrThrow(dueAt)))
    )
    assert.strictEqual(pauses.length, 20)
    assert.isTrue(pauses.every((pause) => pause >= 800 && pause <= 1_000), String(pauses))
    assert.isAbove(new Set(pauses).size, 5)
  }).pipe(Effect.scoped, Effect.provide(memory)))

it.effect("ends a failed job that cannot be delayed, and frees its slot", () => {
  const refusing = over(({ apply }) => ({
    apply: (changes) =>
      changes.retried.length > 0
        ? Effect.fail(new StorageError.StorageError({ operation: "test", reason: "failed", cause: "test" }))
        : apply(changes)
  }))
  return Effect.gen(function*() {
    const scheduler = yield* Scheduler
    const world = yield* makeWorld
    const failed: Array<string> = []
    const handler = JobHandler.make({
      kind: world.kind,
      run: () => Effect.fail(new Busy()),
      failed: ({ job }) => Effect.sync(() => failed.push(job)),
      retry: { attempts: 3 }
    })
    yield* startWorker({ name: "worker", handlers: [handler] })
    const jobs = yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job()))
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(failed, ids(jobs))
    assert.deepStrictEqual(yield* scheduler.find(ids(jobs)), [])
    assert.deepStrictEqual(yield* scheduler.verify, [])
  }).pipe(Effect.scoped, Effect.provide(refusing))
})
