/** Jobs that are leased to a worker that lives, but does not run them. */
import { assert, layer } from "@effect/vitest"
import { Decision, StorageError, UnitOfWork } from "@kinora/persistence"
import { Effect, Exit, Latch, Queue } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld, stateOf } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as Lanes from "../src/Lanes.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import { memory, startWorker } from "./Fixture.ts"
import { anotherScheduler, start } from "./HandoversContract.ts"

const lost = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "The response was lost" })

layer(memory)("jobs that a living worker has leased and does not run", (it) => {
  it.effect("run again after a claim that took effect although its response was lost", () =>
    Effect.gen(function*() {
      const { job, kind } = yield* makeWorld
      const scheduler = yield* Scheduler.Scheduler
      const ran = yield* Queue.unbounded<number>()
      let responses = 0
      const lossy = Scheduler.Scheduler.of({
        ...scheduler,
        claim: (options) =>
          Effect.tap(
            scheduler.claim(options),
            (jobs) => jobs.length > 0 && responses++ === 0 ? lost : Effect.void
          )
      })
      const handler = JobHandler.make({
        kind,
        run: ({ attempt }) => Queue.offer(ran, attempt),
        failed: () => Effect.void
      })
      yield* Effect.provideService(startWorker({ name: "worker", handlers: [handler] }), Scheduler.Scheduler, lossy)
      const command = yield* scheduler.enqueue(job())
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Queue.takeAll(ran), [2])
      assert.deepStrictEqual(yield* scheduler.find([command.job]), [])
    }))

  it.effect("run again after they could not be settled, and fail after their last attempt", () =>
    Effect.gen(function*() {
      const { job, kind } = yield* makeWorld
      const scheduler = yield* Scheduler.Scheduler
      const ran: Array<string> = []
      const handler = JobHandler.make({
        kind,
        run: ({ attempt }) => Effect.sync(() => ran.push(`run ${attempt}`)),
        failed: () => Effect.sync(() => ran.push("failed")),
        settle: Effect.fnUntraced(function*(settlements) {
          if (!ran.includes("failed")) return yield* Effect.die(new Error("A settlement with a bug"))
          const jobs = settlements.map(({ job }) => job)
          const { state } = Decision.all(yield* scheduler.load({ jobs }), jobs, Lanes.settle)
          yield* scheduler.save(state)
        })
      })
      yield* startWorker({ name: "worker", handlers: [handler] })
      const command = yield* scheduler.enqueue(job({ attemptsMax: 3 }))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(ran, ["run 1", "run 2", "run 3", "failed"])
      assert.deepStrictEqual(yield* scheduler.find([command.job]), [])
    }))

  it.effect("run again after a unit that handed them over committed although its response was lost", () =>
    Effect.gen(function*() {
      const { job, started } = yield* start()
      const unitOfWork = yield* UnitOfWork.UnitOfWork
      const lossy = UnitOfWork.UnitOfWork.of({
        ...unitOfWork,
        atomically: (effect) =>
          Effect.flatMap(unitOfWork.isOpen, (open) => {
            const unit = unitOfWork.atomically(effect)
            return open ? unit : Effect.andThen(unit, Effect.fail(lost))
          })
      })
      const elsewhere = yield* Effect.provideService(anotherScheduler, UnitOfWork.UnitOfWork, lossy)
      const command = job()
      assert.isTrue(Exit.isFailure(yield* Effect.exit(elsewhere.enqueue(command))))
      assert.strictEqual(yield* stateOf(command.job), "running")
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* started, { job: command.job, attempt: 2 })
    }))

  it.effect("run again after a statement that handed them over took effect although its response was lost", () =>
    Effect.gen(function*() {
      const { job, scheduler, started } = yield* start()
      const store = yield* SchedulerStore
      const lossy = SchedulerStore.of({
        ...store,
        enqueueLeased: (...job) => Effect.andThen(store.enqueueLeased(...job), Effect.fail(lost))
      })
      const elsewhere = yield* Effect.provideService(anotherScheduler, SchedulerStore, lossy)
      const command = job()
      yield* scheduler.setCap(command)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(elsewhere.enqueue(command))))
      assert.strictEqual(yield* stateOf(command.job), "running")
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual(yield* started, { job: command.job, attempt: 2 })
    }))

  it.effect("end although the response of the statement that ended them was lost", () =>
    Effect.gen(function*() {
      const { job, kind } = yield* makeWorld
      const store = yield* SchedulerStore
      const scheduler = yield* Scheduler.Scheduler
      let ends = 0
      const lossy = SchedulerStore.of({
        ...store,
        settleAndClaim: (...jobs) => Effect.tap(store.settleAndClaim(...jobs), () => ends++ === 0 ? lost : Effect.void)
      })
      const ran: Array<number> = []
      const handler = JobHandler.make({
        kind,
        run: ({ attempt }) => Effect.sync(() => ran.push(attempt)),
        failed: () => Effect.void
      })
      const elsewhere = yield* Effect.provideService(anotherScheduler, SchedulerStore, lossy)
      yield* Effect.provideService(startWorker({ name: "worker", handlers: [handler] }), Scheduler.Scheduler, elsewhere)
      const command = yield* scheduler.enqueue(job())
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(ran, [1])
      assert.isAbove(ends, 1)
      assert.deepStrictEqual(yield* scheduler.find([command.job]), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  it.effect("run again after the statement that leased them in the slots of others took effect although its response was lost", () =>
    Effect.gen(function*() {
      const { job, kind } = yield* makeWorld
      const store = yield* SchedulerStore
      const scheduler = yield* Scheduler.Scheduler
      let leases = 0
      const lossy = SchedulerStore.of({
        ...store,
        settleAndClaim: (...jobs) =>
          Effect.tap(
            store.settleAndClaim(...jobs),
            ({ claimed }) => claimed.length > 0 && leases++ === 0 ? lost : Effect.void
          )
      })
      const ran: Array<string> = []
      const commands = [job(), job()]
      const handler = JobHandler.make({
        kind,
        run: ({ attempt, job }) =>
          Effect.sync(() => ran.push(`${job === commands[0]!.job ? "first" : "second"} ${attempt}`)),
        failed: () => Effect.void
      })
      for (const command of commands) yield* scheduler.enqueue(command)
      const elsewhere = yield* Effect.provideService(anotherScheduler, SchedulerStore, lossy)
      yield* Effect.provideService(startWorker({ name: "worker", handlers: [handler] }), Scheduler.Scheduler, elsewhere)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(ran, ["first 1", "second 2"])
      assert.deepStrictEqual(yield* scheduler.find(commands.map(({ job }) => job)), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  it.effect("are not those that were enqueued during a rescue, whose worker takes no jobs meanwhile", () =>
    Effect.gen(function*() {
      const rescue = yield* Latch.make(true)
      const { claimed, gate, job, scheduler, started, worker } = yield* start({ beforeRescue: rescue.await })
      yield* Effect.andThen(gate.close, rescue.close)
      yield* TestClock.adjust("3 seconds")
      const command = yield* scheduler.enqueue(job())
      yield* rescue.open
      assert.deepStrictEqual(yield* started, { job: command.job, attempt: 1 })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(claimed, [command.job])
      assert.deepStrictEqual((yield* worker.running).map(({ epoch }) => epoch), [1])
      yield* gate.open
    }))

  it.effect("are taken over once per search, also if they can never be settled", () =>
    Effect.gen(function*() {
      const { job, kind } = yield* makeWorld
      const scheduler = yield* Scheduler.Scheduler
      let rescues = 0
      const counted = Scheduler.Scheduler.of({
        ...scheduler,
        rescue: (options) =>
          Effect.suspend(() =>
            ++rescues > 1000 ? Effect.succeed({ exhausted: [], requeued: [] }) : scheduler.rescue(options)
          )
      })
      const handler = JobHandler.make({
        kind,
        run: () => Effect.void,
        failed: () => Effect.void,
        settle: () => Effect.die(new Error("A settlement with a bug"))
      })
      const worker = startWorker({ name: "worker", handlers: [handler], claimMax: 1 })
      yield* Effect.provideService(worker, Scheduler.Scheduler, counted)
      yield* scheduler.enqueue(job({ attemptsMax: 1 }))
      yield* TestClock.adjust("30 seconds")
      assert.isBelow(rescues, 100)
    }))
})
