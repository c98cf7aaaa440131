/** Jobs that are handed over by a unit whose commit takes time, and how they start after it. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { Context, Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { ids, makeWorld, stateOf } from "../src/internal/contract/world.ts"
import type { CapCommand } from "../src/internal/requests.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as JobKind from "../src/JobKind.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import { memory, startWorker } from "./Fixture.ts"
import { anotherScheduler, start } from "./HandoversContract.ts"

/** A scheduler whose units, and the statements that enqueue a job without one, return `end` after their commit. */
const slowScheduler = Effect.fnUntraced(function*(end: Effect.Effect<void>) {
  const unitOfWork = yield* UnitOfWork.UnitOfWork
  const store = yield* SchedulerStore
  const slowUnits = UnitOfWork.UnitOfWork.of({
    ...unitOfWork,
    atomically: (effect) =>
      Effect.flatMap(unitOfWork.isOpen, (open) => {
        const unit = unitOfWork.atomically(effect)
        return open ? unit : Effect.tap(unit, () => end)
      })
  })
  const slowStore = SchedulerStore.of({
    ...store,
    enqueueLeased: (...job) =>
      Effect.tap(store.enqueueLeased(...job), (leased) => leased === undefined ? Effect.void : end)
  })
  return yield* anotherScheduler.pipe(
    Effect.provideService(UnitOfWork.UnitOfWork, slowUnits),
    Effect.provideService(SchedulerStore, slowStore)
  )
})

/** A scheduler like `slowScheduler` that fails after `end`, as if the response was lost. */
const failingScheduler = (end: Effect.Effect<void>) =>
  slowScheduler(Effect.andThen(end, Effect.die(new Error("The response was lost"))))

const Caller = Context.Reference<string>("test/Caller", { defaultValue: () => "nobody" })

/** The first job of a lane creates it in a unit, the next ones are enqueued in one statement. */
const ways = [
  { name: "a unit", prepare: () => Effect.void },
  { name: "one statement", prepare: (lane: CapCommand) => Scheduler.Scheduler.use(({ setCap }) => setCap(lane)) }
]

for (const { name, prepare } of ways) {
  layer(memory)(`a job that is handed over in ${name}`, (it) => {
    it.effect("takes no more than the slot that was reserved", () =>
      Effect.gen(function*() {
        const end = yield* Latch.make()
        const { gate, job, scheduler, started, worker } = yield* start({ concurrency: 1 })
        yield* prepare(job({ cap: 5 }))
        const slow = yield* slowScheduler(end.await)
        yield* Effect.acquireRelease(gate.close, () => gate.open)
        const first = job({ cap: 5 })
        const enqueued = yield* Effect.forkChild(slow.enqueue(first), { startImmediately: true })
        const second = yield* scheduler.enqueue(job({ cap: 5 }))
        yield* TestClock.adjust("100 millis")
        yield* end.open
        yield* Fiber.join(enqueued)
        assert.strictEqual((yield* started).job, first.job)
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(ids(yield* worker.running), [first.job])
        yield* gate.open
        assert.strictEqual((yield* started).job, second.job)
      }))

    it.effect("has the grace of a drain that began meanwhile", () =>
      Effect.gen(function*() {
        const end = yield* Latch.make()
        const { gate, job, scheduler, started, worker } = yield* start()
        yield* prepare(job({ cap: 1 }))
        const slow = yield* slowScheduler(end.await)
        yield* Effect.acquireRelease(gate.close, () => gate.open)
        const command = job()
        const enqueued = yield* Effect.forkChild(slow.enqueue(command), { startImmediately: true })
        const drained = yield* Effect.forkChild(worker.drain, { startImmediately: true })
        yield* TestClock.adjust("100 millis")
        yield* end.open
        yield* Fiber.join(enqueued)
        assert.strictEqual((yield* started).job, command.job)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ids(yield* worker.running), [command.job])
        yield* gate.open
        yield* Fiber.join(drained)
        assert.deepStrictEqual(yield* scheduler.find([command.job]), [])
      }))

    it.effect("is returned by a drain whose grace has passed meanwhile", () =>
      Effect.gen(function*() {
        const end = yield* Latch.make()
        const { gate, job, worker } = yield* start({ grace: 0 })
        yield* prepare(job({ cap: 1 }))
        const slow = yield* slowScheduler(end.await)
        yield* Effect.acquireRelease(gate.close, () => gate.open)
        const command = job()
        const enqueued = yield* Effect.forkChild(slow.enqueue(command), { startImmediately: true })
        const drained = yield* Effect.forkChild(worker.drain, { startImmediately: true })
        yield* TestClock.adjust("100 millis")
        yield* end.open
        yield* Fiber.join(enqueued)
        yield* TestClock.adjust("10 seconds")
        yield* Fiber.join(drained)
        assert.deepStrictEqual(yield* worker.running, [])
        assert.strictEqual(yield* stateOf(command.job), "queued")
        yield* gate.open
      }))

    it.effect("runs with the services of the worker, like a claimed one", () =>
      Effect.gen(function*() {
        const { job, kind } = yield* makeWorld
        yield* prepare(job({ cap: 1 }))
        const scheduler = yield* Scheduler.Scheduler
        const slept = yield* Latch.make()
        const seen: Array<string> = []
        const handler = JobHandler.make({
          kind,
          run: () => Effect.map(Caller, (caller) => void seen.push(caller)),
          failed: () => Effect.void
        })
        const observed = Scheduler.Scheduler.of({
          ...scheduler,
          claim: (options) => Effect.tap(scheduler.claim(options), slept.open)
        })
        yield* Effect.provideService(
          startWorker({ name: "worker", handlers: [handler] }),
          Scheduler.Scheduler,
          observed
        )
        yield* slept.await
        yield* TestClock.adjust("100 millis")
        yield* Effect.provideService(scheduler.enqueue(job()), Caller, "a request")
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(seen, ["nobody"])
      }))

    it.effect("is of no pool with a limit, which does not count the slots that are reserved", () =>
      Effect.gen(function*() {
        const { job, kind } = yield* makeWorld
        yield* prepare(job({ cap: 5 }))
        const scheduler = yield* Scheduler.Scheduler
        const [end, gate, slept] = [yield* Latch.make(), yield* Latch.make(), yield* Latch.make()]
        let running = 0
        let most = 0
        const handler = JobHandler.make({
          kind,
          pools: ["gpu"],
          limits: [{ pools: ["gpu"], room: Effect.sync(() => 1 - running) }],
          run: () =>
            Effect.acquireUseRelease(
              Effect.sync(() => {
                most = Math.max(most, ++running)
              }),
              () => gate.await,
              () => Effect.sync(() => running--)
            ),
          failed: () => Effect.void
        })
        const observed = Scheduler.Scheduler.of({
          ...scheduler,
          claim: (options) => Effect.tap(scheduler.claim(options), slept.open)
        })
        yield* Effect.provideService(
          startWorker({ name: "worker", handlers: [handler] }),
          Scheduler.Scheduler,
          observed
        )
        yield* Effect.addFinalizer(() => gate.open)
        yield* slept.await
        yield* TestClock.adjust("100 millis")
        const slow = yield* slowScheduler(end.await)
        const pooled = () => job({ cap: 5, kind: JobKind.pool(kind, "gpu") })
        const enqueued = yield* Effect.forkChild(slow.enqueue(pooled()), { startImmediately: true })
        yield* scheduler.enqueue(pooled())
        yield* end.open
        yield* Fiber.join(enqueued)
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(most, 1)
        yield* gate.open
      }))

    it.effect("leaves its slot to others of its group when its unit fails", () =>
      Effect.gen(function*() {
        const end = yield* Latch.make()
        const { gate, job, scheduler, worker } = yield* start({ concurrency: 2, reserved: 1, pollInterval: "1 hour" })
        yield* prepare(job({ cap: 5 }))
        yield* Effect.acquireRelease(gate.close, () => gate.open)
        const failing = yield* failingScheduler(end.await)
        const enqueued = yield* Effect.forkChild(Effect.exit(failing.enqueue(job({ cap: 5 }))), {
          startImmediately: true
        })
        const other = yield* scheduler.enqueue(job({ cap: 5 }))
        yield* TestClock.adjust("100 millis")
        yield* end.open
        yield* Fiber.join(enqueued)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ids(yield* worker.running), [other.job])
      }))
  })
}
