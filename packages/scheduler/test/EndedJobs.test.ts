/** A worker ends jobs, and starts those that get their slots. */
import { assert, layer } from "@effect/vitest"
import { StorageError } from "@kinora/persistence"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import type * as Worker from "../src/Worker.ts"
import { memory, startWorker } from "./Fixture.ts"
import { anotherScheduler } from "./HandoversContract.ts"

layer(memory)("A worker whose jobs end", (it) => {
  it.effect("starts the next jobs of their lane without a claim", () =>
    Effect.gen(function*() {
      const { add, ended, log, start } = yield* makeLane
      yield* add(4)
      yield* start()
      yield* ended(4)
      assert.deepStrictEqual(log, [
        "claimed 1",
        ...[0, 1, 2].flatMap((n) => [`ran ${n}`, "leased 1"]),
        "ran 3",
        "leased 0"
      ])
    }))

  it.effect("claims the next jobs if a handler records claims", () =>
    Effect.gen(function*() {
      const { add, ended, log, start } = yield* makeLane
      yield* add(3)
      yield* start({ claimed: (jobs) => Effect.sync(() => log.push(`recorded ${jobs.length}`)) })
      yield* ended(3)
      assert.deepStrictEqual(log.filter((entry) => entry.startsWith("recorded")), Array(3).fill("recorded 1"))
      assert.deepStrictEqual(log.filter((entry) => entry.startsWith("leased")), Array(3).fill("leased 0"))
    }))

  it.effect("claims a job that runs alone before the next jobs of their lane", () =>
    Effect.gen(function*() {
      const { add, ended, gate, log, start } = yield* makeLane
      yield* gate.close
      yield* add(2)
      yield* start({}, { isAloneDue: () => Effect.succeed(true) })
      yield* TestClock.adjust("5 seconds")
      yield* gate.open
      yield* ended(2)
      assert.deepStrictEqual(log.slice(0, 4), ["claimed 1", "ran 0", "leased 0", "claimed 0 alone"])
    }))

  it.effect("settles them while a claim hangs", () =>
    Effect.gen(function*() {
      const { add, ended, gate, log, scheduler, start } = yield* makeLane
      yield* gate.close
      yield* add(1)
      const [hangs, responds] = [yield* Latch.make(), yield* Latch.make()]
      let claims = 0
      yield* start({}, {
        claim: (options) =>
          claims++ === 0 ? scheduler.claim(options) : hangs.open.pipe(Effect.andThen(responds.await), Effect.as([]))
      })
      yield* TestClock.adjust("5 seconds")
      yield* hangs.await
      yield* gate.open
      yield* TestClock.adjust("2 seconds")
      yield* ended(1)
      yield* responds.open
      assert.deepStrictEqual(log, ["ran 0", "leased 0"])
    }))

  for (
    const [name, isOpen] of [["hangs", Effect.never], ["dies", Effect.die(new Error("A handler with a bug"))]] as const
  ) {
    it.effect(`settles them while the question whether a kind is open ${name}`, () =>
      Effect.gen(function*() {
        const { add, ended, gate, log, start } = yield* makeLane
        yield* gate.close
        yield* add(1)
        let isAsked = false
        yield* start({ isOpen: Effect.suspend(() => isAsked ? isOpen : Effect.succeed(true)) })
        yield* Effect.repeat(Effect.yieldNow, { until: () => log.includes("ran 0") })
        isAsked = true
        yield* gate.open
        yield* TestClock.adjust("2 seconds")
        yield* ended(1)
        assert.deepStrictEqual(log.slice(0, 3), ["claimed 1", "ran 0", "leased 0"])
      }))
  }

  it.effect("starts the next jobs with the services of claimed ones", () =>
    Effect.gen(function*() {
      const { add, ended, start } = yield* makeLane
      const seen: Array<ReadonlyArray<string>> = []
      yield* add(2)
      yield* start({
        ran: Effect.map(Effect.context(), ({ mapUnsafe }) => seen.push([...mapUnsafe.keys()].toSorted()))
      })
      yield* ended(2)
      assert.deepStrictEqual(seen[1], seen[0])
    }))

  it.effect("settles them in a unit if the storage refuses the statement", () =>
    Effect.gen(function*() {
      const { add, ended, log, scheduler, start } = yield* makeLane
      const store = yield* SchedulerStore
      const refused = new StorageError.StorageError({ operation: "test", reason: "failed", cause: "A constraint" })
      const elsewhere = yield* Effect.provideService(
        anotherScheduler,
        SchedulerStore,
        SchedulerStore.of({ ...store, settleAndClaim: () => Effect.fail(refused) })
      )
      yield* add(2)
      yield* start({}, { settleAndClaim: elsewhere.settleAndClaim })
      yield* ended(2)
      assert.deepStrictEqual(log.filter((entry) => entry.startsWith("ran")), ["ran 0", "ran 1"])
      assert.deepStrictEqual(
        (yield* scheduler.queues).map(({ pending, queued, running }) => [pending, queued, running]),
        [[0, 0, 0]]
      )
    }))

  it.effect("returns to the queue all the next jobs that were leased while it drained", () =>
    Effect.gen(function*() {
      const { add, gate, log, scheduler, start } = yield* makeLane
      const [isSent, responds] = [yield* Latch.make(), yield* Latch.make()]
      yield* gate.close
      // So many that their fiber yields while it starts them.
      yield* add(2 * crowd, { cap: crowd, waitingMax: crowd })
      const worker = yield* start({ concurrency: crowd, grace: "100 millis" }, {
        settleAndClaim: (...jobs) =>
          Effect.tap(
            scheduler.settleAndClaim(...jobs),
            ({ claimed }) => claimed.length < crowd / 2 ? Effect.void : Effect.andThen(isSent.open, responds.await)
          ),
        returnLease: (lease) => Effect.andThen(Effect.sync(() => log.push("returned")), scheduler.returnLease(lease))
      })
      yield* Effect.repeat(Effect.yieldNow, { until: () => log.includes(`ran ${crowd - 1}`) })
      yield* Effect.andThen(gate.open, gate.close)
      yield* isSent.await
      const drain = yield* Effect.forkChild(worker.drain, { startImmediately: true })
      yield* TestClock.adjust("100 millis")
      yield* responds.open
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(drain)
      assert.strictEqual(log.at(-1), "returned")
      assert.deepStrictEqual((yield* scheduler.queues).map(({ queued, running }) => [queued, running]), [[crowd, 0]])
      yield* gate.open
    }))

  it.effect("returns its jobs to the queue when it is asked to drain while a claim hangs", () =>
    Effect.gen(function*() {
      const { add, gate, log, scheduler, start } = yield* makeLane
      const [hangs, responds] = [yield* Latch.make(), yield* Latch.make()]
      yield* gate.close
      yield* add(1)
      let claims = 0
      yield* start({ grace: "1 second", lease: "1 hour", heartbeatInterval: "10 seconds" }, {
        claim: (options) =>
          claims++ === 0 ? scheduler.claim(options) : hangs.open.pipe(Effect.andThen(responds.await), Effect.as([])),
        isDrained: () => Effect.succeed(true),
        release: (leases) =>
          Effect.andThen(Effect.sync(() => log.push(`released ${leases.length}`)), scheduler.release(leases))
      })
      yield* Effect.addFinalizer(() => Effect.andThen(responds.open, gate.open))
      yield* TestClock.adjust("5 seconds")
      yield* hangs.await
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(log, ["ran 0", "released 1"])
    }))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Number of slots of a lane, if it has many. */
const crowd = 100

/** A lane with one slot, whose jobs run while the gate is open, and what the worker did. */
const makeLane = Effect.gen(function*() {
  const scheduler = yield* Scheduler.Scheduler
  const { job, kind } = yield* makeWorld
  const log: Array<string> = []
  const gate = yield* Latch.make(true)
  let added = 0

  const start = (
    { claimed, isOpen, ran = Effect.void, ...options }:
      & Partial<Parameters<typeof Worker.layer>[0]>
      & Partial<Pick<JobHandler.JobHandler, "claimed" | "isOpen">>
      & { readonly ran?: Effect.Effect<unknown> } = {},
    changed: Partial<Scheduler.Scheduler["Service"]> = {}
  ) => {
    const handler = JobHandler.make({
      kind,
      run: ({ payload }) =>
        Effect.sync(() => log.push(`ran ${payload.n}`)).pipe(Effect.andThen(ran), Effect.andThen(gate.await)),
      failed: () => Effect.void,
      claimed,
      isOpen
    })
    const observed = Scheduler.Scheduler.of({
      ...scheduler,
      claim: (terms) =>
        Effect.tap(
          scheduler.claim(terms),
          ({ length }) => Effect.sync(() => log.push(`claimed ${length}${terms.alone === true ? " alone" : ""}`))
        ),
      ...changed,
      settleAndClaim: (...jobs) =>
        Effect.tap(
          (changed.settleAndClaim ?? scheduler.settleAndClaim)(...jobs),
          ({ claimed }) => Effect.sync(() => log.push(`leased ${claimed.length}`))
        )
    })
    return Effect.provideService(
      startWorker({ name: "worker", handlers: [handler], ...options }),
      Scheduler.Scheduler,
      observed
    )
  }
  return {
    /** Waits until the worker has sent the ends of this number of jobs, and all jobs have ended that ran. */
    ended: (count: number) =>
      Effect.repeat(Effect.andThen(Effect.yieldNow, scheduler.queues), {
        until: (queues) =>
          log.filter((entry) => entry.startsWith("leased")).length >= count &&
          queues.every(({ running }) => running === 0)
      }),
    gate,
    log,
    scheduler,
    start,
    add: (count: number, options: Parameters<typeof job>[0] = {}) =>
      Effect.forEach(Array(count), () => scheduler.enqueue(job({ payload: { n: added++ }, ...options })), {
        discard: true
      })
  }
})
