import { assert, layer } from "@effect/vitest"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import {
  Cause,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Latch,
  Layer,
  Metric,
  Option,
  Queue,
  References,
  Result,
  Scope
} from "effect"
import { TestClock } from "effect/testing"
import { ids, makeWorld, refusal, stateOf } from "../src/internal/contract/world.ts"
import * as Handovers from "../src/internal/handovers.ts"
import type { ClaimedJob } from "../src/Job.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as JobKind from "../src/JobKind.ts"
import * as Lanes from "../src/Lanes.ts"
import * as Scheduler from "../src/Scheduler.ts"
import * as Wakeup from "../src/Wakeup.ts"
import type * as Worker from "../src/Worker.ts"
import { memory, startWorker } from "./Fixture.ts"

type World = Effect.Success<typeof makeWorld>
type Payload = { readonly n: number }

const unavailable = new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" })

/** A world with a worker, and a record of what happens in it. */
const start = Effect.fnUntraced(function*(
  run: (job: ClaimedJob<Payload>) => Effect.Effect<string, string>,
  options:
    & Partial<Parameters<typeof Worker.layer>[0]>
    & Partial<Parameters<typeof JobHandler.make<Payload, string, string>>[0]> = {},
  existing?: World
) {
  const world = existing ?? (yield* makeWorld)
  const scheduler = yield* Scheduler.Scheduler
  const scope = yield* Scope.fork(yield* Effect.scope)
  const settled = yield* Queue.unbounded<JobHandler.Settlement<string>>()
  const handler = JobHandler.make<Payload, string, string>({
    kind: world.kind,
    run,
    failed: (_, cause) => Effect.succeed(`failed: ${String(Cause.squash(cause))}`),
    settle: Effect.fnUntraced(function*(settlements) {
      let lanes = yield* scheduler.load({ jobs: settlements.map(({ job }) => job) })
      for (const settlement of settlements) {
        const ended = Lanes.settle(lanes, settlement.job)
        if (ended._tag === "Failure") continue
        lanes = ended.success.state
        yield* Queue.offer(settled, settlement)
      }
      yield* scheduler.save(lanes)
    }),
    ...options
  })
  const worker = yield* Scope.provide(
    startWorker({ name: "worker", handlers: [handler], grace: 0, ...options }),
    scope
  )
  return {
    ...world,
    scheduler,
    worker,
    /** Closes the scope that the worker lives in. */
    stop: Scope.close(scope, Exit.void),
    settled: Queue.take(settled),
    outcome: Effect.map(Queue.take(settled), ({ outcome }) => outcome)
  }
})

/** A run that records its start, waits for the test, and records its interruption. */
const makeGate = Effect.sync(() => {
  const started = Latch.makeUnsafe(false)
  const gate = Latch.makeUnsafe(false)
  const interrupted = Latch.makeUnsafe(false)
  const seen: Array<ClaimedJob<Payload>> = []
  return {
    started: started.await,
    open: gate.open,
    interrupted: interrupted.await,
    seen,
    run: (job: ClaimedJob<Payload>) =>
      Effect.sync(() => {
        seen.push(job)
        started.openUnsafe()
      }).pipe(
        Effect.andThen(gate.await),
        Effect.as("done"),
        Effect.onInterrupt(() => Effect.asVoid(interrupted.open))
      )
  }
})

const runningJobs = Effect.map(
  Metric.snapshot,
  (metrics) => metrics.flatMap(({ id, state }) => id === "kinora_worker_jobs_running" ? [state] : [])
)

layer(memory)("Worker", (it) => {
  it.effect("runs a job with its payload immediately after it is enqueued, and settles it", () =>
    Effect.gen(function*() {
      const { job, outcome, scheduler } = yield* start(({ payload }) => Effect.succeed(`got ${payload.n}`))
      const { job: id } = yield* scheduler.enqueue(job({ payload: { n: 42 } }))
      assert.strictEqual(yield* outcome, "got 42")
      assert.deepStrictEqual(yield* scheduler.find([id]), [])
    }))

  it.effect("runs a job in a span without a parent, and in none while tracing is disabled", () =>
    Effect.gen(function*() {
      const spanOf = Effect.gen(function*() {
        const { job, outcome, scheduler } = yield* start(() =>
          Effect.map(
            Effect.option(Effect.currentSpan),
            Option.match({
              onNone: () => "none",
              onSome: ({ attributes, name, parent }) =>
                JSON.stringify([name, Option.isNone(parent), [...attributes.keys()]])
            })
          )
        )
        yield* scheduler.enqueue(job())
        return yield* outcome
      })
      assert.strictEqual(yield* spanOf, `["Worker.job",true,["kind","attempt"]]`)
      assert.strictEqual(yield* Effect.provideService(spanOf, References.TracerEnabled, false), "none")
    }))

  it.effect("runs as many jobs at the same time as it may, and the others after them", () =>
    Effect.gen(function*() {
      let now = 0
      let most = 0
      const { job, scheduler, settled } = yield* start(
        () =>
          Effect.sync(() => most = Math.max(most, ++now)).pipe(
            Effect.andThen(Effect.yieldNow),
            Effect.andThen(Effect.sync(() => `${now--}`))
          ),
        { concurrency: 3 }
      )
      yield* Effect.forEach(Array.from({ length: 20 }), () => scheduler.enqueue(job({ cap: 20 })))
      yield* Effect.forEach(Array.from({ length: 20 }), () => settled)
      assert.strictEqual(most, 3)
    }))

  it.effect("starts a job that waited when the one before it is settled", () =>
    Effect.gen(function*() {
      const { job, scheduler, settled } = yield* start(() => Effect.succeed("done"))
      const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(job()))
      const order = yield* Effect.forEach(jobs, () => settled)
      assert.deepStrictEqual(order.map(({ job }) => job.job), ids(jobs))
    }))

  it.effect("counts the jobs that it runs", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { job, scheduler, settled, stop } = yield* start(gate.run)
      yield* scheduler.enqueue(job())
      yield* gate.started
      assert.deepStrictEqual(yield* runningJobs, [{ value: 1 }])
      yield* gate.open
      yield* settled
      yield* stop
      assert.deepStrictEqual(yield* runningJobs, [{ value: 0 }])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))

  it.effect("starts the claimed jobs of a lane next to each other", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const { enqueue } = yield* Scheduler.Scheduler
      const lanes = ["a", "b", "a", "b"].map((name) => `${name} of ${world.lane}`)
      yield* Effect.forEach(lanes, (lane, n) => enqueue(world.job({ lane, cap: 2, payload: { n } })))
      const started: Array<number> = []
      const { settled } = yield* start(
        ({ payload }) => Effect.sync(() => `${started.push(payload.n)}`),
        { concurrency: 4 },
        world
      )
      yield* Effect.forEach(lanes, () => settled)
      assert.deepStrictEqual(started, [0, 2, 1, 3])
    }))

  it.effect("calls claimed in the unit that claims the jobs", () =>
    Effect.gen(function*() {
      const told: Array<[ids: ReadonlyArray<string>, worker: string, inUnit: boolean]> = []
      const gate = yield* makeGate
      const unitOfWork = yield* UnitOfWork.UnitOfWork
      const { job, scheduler, settled } = yield* start(gate.run, {
        claimed: (jobs, worker) =>
          Effect.map(unitOfWork.isOpen, (open) => {
            told.push([ids(jobs), worker, open])
          })
      })
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const commands = [job({ cap: 2 }), job({ cap: 2 })]
      yield* atomically(Effect.forEach(commands, (command) => scheduler.enqueue(command)))
      yield* gate.open
      yield* settled
      yield* settled
      assert.deepStrictEqual(told, [[ids(commands), "worker", true]])
    }))

  it.effect("undoes a claim if claimed fails, and tries again", () =>
    Effect.gen(function*() {
      const failure = yield* Deferred.make<void>()
      const { job, outcome, scheduler } = yield* start((job) => Effect.succeed(`attempt ${job.attempt}`), {
        claimed: () =>
          Effect.flatMap(Deferred.succeed(failure, undefined), (first) =>
            first
              ? Effect.fail(unavailable)
              : Effect.void)
      })
      const { job: id } = yield* scheduler.enqueue(job())
      yield* Deferred.await(failure)
      assert.strictEqual(yield* stateOf(id), "queued")
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* outcome, "attempt 1")
    }))

  it.effect("renews the lease of a job while it runs", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { job, rescue, scheduler, settled, worker } = yield* start(gate.run)
      const { job: id } = yield* scheduler.enqueue(job())
      yield* gate.started
      for (let second = 0; second < 300; second += 10) {
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(yield* rescue(), { requeued: [], exhausted: [] })
      }
      assert.deepStrictEqual(ids(yield* worker.running), [id])
      yield* gate.open
      assert.strictEqual((yield* settled).job.epoch, 1)
    }))

  it.effect("renews its lease every 2 seconds by default", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const renewals = yield* Queue.unbounded<void>()
      yield* start(() => Effect.succeed("done")).pipe(Effect.provideService(Scheduler.Scheduler, {
        ...scheduler,
        renewLease: (options) => Effect.andThen(Queue.offer(renewals, undefined), scheduler.renewLease(options))
      }))
      for (let beats = 0; beats < 3; beats++) {
        yield* TestClock.adjust(1_999)
        assert.strictEqual(yield* Queue.size(renewals), 0)
        yield* TestClock.adjust(1)
        yield* Queue.take(renewals)
      }
    }))

  it.effect("interrupts a job whose lease is lost, without changing the job", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      // The renewals fail, as for a worker without a network.
      const online = yield* Scheduler.Scheduler
      const { claim, job, rescue, scheduler, worker } = yield* start(gate.run, { concurrency: 1 }).pipe(
        Effect.provideService(Scheduler.Scheduler, { ...online, renewLease: () => Effect.fail(unavailable) })
      )
      yield* scheduler.enqueue(job())
      yield* gate.started
      yield* TestClock.adjust(7_999)
      assert.deepStrictEqual(yield* rescue(), { requeued: [], exhausted: [] })
      assert.strictEqual((yield* worker.running).length, 1)
      // The run ends when the lease does, so no other worker runs the job beside it.
      yield* TestClock.adjust(1)
      yield* gate.interrupted
      assert.deepStrictEqual(yield* worker.running, [])
      const { requeued } = yield* rescue()
      assert.strictEqual(requeued.length, 1)
      const [taken] = yield* claim({ ttl: "1 hour" })
      yield* TestClock.adjust("30 seconds")
      const [status] = yield* scheduler.find([taken!.job])
      assert.deepStrictEqual([status!.state, status!.epoch, status!.worker], ["running", 2, Option.some("test")])
      assert.strictEqual((yield* scheduler.settle(taken!)).job, taken!.job)
    }))

  it.effect("interrupts a job that was requeued or ended by others, and continues with the next ones", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const { claim, id: newId, job, scheduler, worker } = yield* start(gate.run, { concurrency: 1 })
      const { job: id } = yield* scheduler.enqueue(job())
      yield* gate.started
      assert.strictEqual((yield* refusal(scheduler.requeue(newId())))._tag, "NotFound")
      assert.isTrue(yield* scheduler.requeue(id))
      assert.isFalse(yield* scheduler.requeue(id))
      const [taken] = yield* claim({ ttl: "1 hour" })
      assert.deepStrictEqual([taken!.job, taken!.epoch, taken!.attempt], [id, 2, 1])
      assert.strictEqual((yield* worker.running).length, 1)
      yield* TestClock.adjust("2 seconds")
      yield* gate.interrupted
      assert.deepStrictEqual(yield* worker.running, [])
      const [status] = yield* scheduler.find([id])
      assert.deepStrictEqual([status!.state, status!.epoch], ["running", 2])

      yield* atomically(Effect.gen(function*() {
        const aborted = Lanes.abort(yield* scheduler.load({ jobs: [status!] }), id)
        yield* scheduler.save(Result.getOrThrow(aborted).state)
      }))
      assert.deepStrictEqual(yield* scheduler.find([id]), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  it.effect("does not interrupt a job that is settling when its lease is reported as lost", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      let renewals = 0
      const settling = Latch.makeUnsafe(false)
      const gate = Latch.makeUnsafe(false)
      let isInterrupted = false
      const { job, worker } = yield* start(() => Effect.succeed("done"), {
        rescueInterval: "1 hour",
        settle: () =>
          Effect.andThen(settling.open, gate.await).pipe(
            Effect.onInterrupt(() => Effect.sync(() => isInterrupted = true))
          )
      }).pipe(Effect.provideService(Scheduler.Scheduler, {
        ...scheduler,
        // The unit that settles holds the lock of the memory, so later leases are not stored.
        takeLease: (options) => renewals === 0 ? scheduler.takeLease(options) : Effect.succeed("another"),
        renewLease: () => Effect.sync(() => ++renewals < 0)
      }))
      yield* scheduler.enqueue(job())
      yield* settling.await
      assert.strictEqual((yield* worker.running).length, 1)
      // The second renewal, of the next lease, starts after the first one was handled.
      yield* Effect.repeat(TestClock.adjust("10 seconds"), { until: () => renewals >= 2 })
      const { length } = yield* worker.running
      yield* gate.open
      assert.deepStrictEqual([isInterrupted, length], [false, 1])
    }))

  it.effect("calls failed for a failure, a defect, and a payload that does not decode", () =>
    Effect.gen(function*() {
      const { job, kind, outcome, scheduler } = yield* start(({ payload }) =>
        payload.n === 1 ? Effect.fail("no") : Effect.die("bug")
      )
      yield* scheduler.enqueue(job({ payload: { n: 1 } }))
      assert.strictEqual(yield* outcome, "failed: no")
      yield* scheduler.enqueue(job({ payload: { n: 2 } }))
      assert.strictEqual(yield* outcome, "failed: bug")
      yield* scheduler.enqueue(job({ kind: { ...kind, encode: () => "from an older build" } }))
      assert.match(yield* outcome, /^failed: SchemaError/)
    }))

  it.effect("calls failed for a run that interrupts itself", () =>
    Effect.gen(function*() {
      const { job, outcome, scheduler } = yield* start(() => Effect.interrupt)
      yield* scheduler.enqueue(job())
      assert.match(yield* outcome, /^failed: /)
    }))

  it.effect("ends a job at its time limit, counted from its first start", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const world = yield* makeWorld
      const gate = yield* makeGate
      const { job } = yield* scheduler.enqueue(world.job({ timeLimit: "100 seconds" }))
      // Its first worker is lost after a minute.
      yield* world.claim({ ttl: "1 minute" })
      yield* TestClock.adjust("1 minute")
      yield* world.rescue()
      const { outcome } = yield* start(gate.run, {}, world)
      yield* gate.started
      yield* TestClock.adjust("39 seconds")
      assert.strictEqual(yield* stateOf(job), "running")
      yield* TestClock.adjust("1 second")
      assert.match(yield* outcome, /^failed: .*exceeded its time limit/)
      yield* gate.interrupted
    }))

  it.effect("does not run a job whose time limit has passed", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const world = yield* makeWorld
      const gate = yield* makeGate
      yield* scheduler.enqueue(world.job({ timeLimit: "30 seconds" }))
      yield* world.claim()
      yield* TestClock.adjust("30 seconds")
      yield* world.rescue()
      const { outcome } = yield* start(gate.run, {}, world)
      assert.match(yield* outcome, /^failed: .*exceeded its time limit/)
      assert.deepStrictEqual(gate.seen, [])
    }))

  it.effect("takes over the job of a worker that crashed, with its checkpoint", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { claim, job, scheduler, settled, worker } = yield* start(gate.run, { concurrency: 1 })
      // The worker is busy while another one takes the second job, keeps a checkpoint, and crashes.
      yield* scheduler.enqueue(job({ cap: 2 }))
      yield* gate.started
      const { job: id } = yield* scheduler.enqueue(job({ cap: 2 }))
      const [crashed] = yield* claim()
      yield* scheduler.checkpoint({ ...crashed!, checkpoint: { operation: "at the provider" } })
      yield* gate.open
      yield* settled
      yield* TestClock.adjust("1 minute")
      const { job: rescued, outcome } = yield* settled
      assert.deepStrictEqual(
        [rescued.job, rescued.epoch, rescued.attempt, rescued.checkpoint, outcome],
        [id, 2, 2, Option.some({ operation: "at the provider" }), "done"]
      )
      assert.deepStrictEqual(yield* worker.running, [])
    }))

  it.effect("fails a job whose last attempt was lost, and calls left in the unit that takes the job over", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const unitOfWork = yield* UnitOfWork.UnitOfWork
      const told: Array<unknown> = []
      const { claim, job, outcome, scheduler } = yield* start(gate.run, {
        concurrency: 1,
        left: (attempts, reason) => Effect.map(unitOfWork.isOpen, (open) => told.push({ attempts, reason, open }))
      })
      yield* scheduler.enqueue(job({ cap: 2 }))
      yield* gate.started
      const { job: lost } = yield* scheduler.enqueue(job({ cap: 2, attemptsMax: 1 }))
      yield* claim()
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(told, [{ attempts: [{ job: lost, epoch: undefined }], reason: "lost", open: true }])
      assert.match(yield* outcome, /^failed: .*lost in the last of 1 attempts/)
      assert.strictEqual(gate.seen.length, 1)
    }))

  it.effect("leaves a job with its lost worker if left fails, and tries again", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      let failures = 1
      const { claim, job, scheduler, settled } = yield* start(gate.run, {
        concurrency: 1,
        left: () => Effect.suspend(() => failures-- > 0 ? Effect.fail(unavailable) : Effect.void)
      })
      yield* scheduler.enqueue(job({ cap: 2 }))
      yield* gate.started
      const { job: lost } = yield* scheduler.enqueue(job({ cap: 2 }))
      yield* claim()
      yield* gate.open
      yield* settled
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual([(yield* settled).job.job, failures], [lost, -1])
    }))

  it.effect("continues under another lease after it has lost one", () =>
    Effect.gen(function*() {
      const online = yield* Scheduler.Scheduler
      let isOnline = true
      const { job, outcome, scheduler } = yield* start(() => Effect.succeed("done")).pipe(
        Effect.provideService(Scheduler.Scheduler, {
          ...online,
          renewLease: (options) => isOnline ? online.renewLease(options) : Effect.fail(unavailable),
          takeLease: (options) => isOnline ? online.takeLease(options) : Effect.fail(unavailable)
        })
      )
      yield* TestClock.adjust("1 second")
      isOnline = false
      yield* TestClock.adjust("1 minute")
      const { job: id } = yield* scheduler.enqueue(job())
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* stateOf(id), "queued")
      isOnline = true
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* outcome, "done")
    }))

  it.effect("runs the last attempt of a job alone, between its other jobs", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const world = yield* makeWorld
      const alone = yield* scheduler.enqueue(world.job({ cap: 4, payload: { n: 0 } }))
      for (const _ of [1, 2]) {
        yield* world.claim({ ttl: "1 second" })
        yield* TestClock.adjust("1 second")
        yield* world.rescue()
      }
      const gates = [0, 1, 2, 3].map(() => Latch.makeUnsafe(false))
      const running = new Set<number>()
      const { outcome } = yield* start(
        ({ payload: { n } }) =>
          Effect.sync(() => running.add(n)).pipe(
            Effect.andThen(gates[n]!.await),
            Effect.andThen(Effect.sync(() => {
              running.delete(n)
              return `ran ${n}`
            }))
          ),
        { concurrency: 3 },
        world
      )
      const enqueue = (n: number) => scheduler.enqueue(world.job({ cap: 4, payload: { n } }))
      yield* Effect.forEach([1, 2], enqueue)
      yield* TestClock.adjust("30 seconds")
      assert.sameMembers([...running], [1, 2])
      // The worker makes room, so it claims no other job, although it has a free slot.
      yield* enqueue(3)
      yield* TestClock.adjust("30 seconds")
      assert.sameMembers([...running], [1, 2])
      for (const n of [1, 2]) {
        yield* gates[n]!.open
        assert.strictEqual(yield* outcome, `ran ${n}`)
      }
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([[...running], yield* stateOf(alone.job)], [[0], "running"])
      for (const n of [0, 3]) {
        yield* gates[n]!.open
        assert.strictEqual(yield* outcome, `ran ${n}`)
      }
    }))

  it.effect("retries settle after a storage failure", () =>
    Effect.gen(function*() {
      const tried = yield* Deferred.make<void>()
      const settledAt = yield* Deferred.make<string>()
      const { job, scheduler } = yield* start(() => Effect.succeed("done"), {
        settle: ([settlement]) =>
          Effect.flatMap(Deferred.succeed(tried, undefined), (first) =>
            first
              ? Effect.fail(unavailable)
              : Effect.asVoid(Deferred.succeed(settledAt, settlement!.outcome)))
      })
      yield* scheduler.enqueue(job())
      yield* Deferred.await(tried)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Deferred.await(settledAt), "done")
    }))

  it.effect("ends jobs of a handler without settle", () =>
    Effect.gen(function*() {
      const ran = yield* Deferred.make<void>()
      const { job, scheduler, worker } = yield* start(
        () => Effect.as(Deferred.succeed(ran, undefined), "done"),
        { settle: undefined }
      )
      const { job: id } = yield* scheduler.enqueue(job())
      yield* Deferred.await(ran)
      yield* worker.drain
      assert.deepStrictEqual(yield* scheduler.find([id]), [])
    }))

  it.effect("waits for running jobs during a drain, and claims no more", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { job, outcome, scheduler, stop } = yield* start(gate.run, { grace: "30 seconds" })
      yield* scheduler.enqueue(job())
      yield* gate.started
      const stopping = yield* Effect.forkChild(stop)
      yield* TestClock.adjust("29 seconds")
      const late = yield* scheduler.enqueue(job())
      yield* gate.open
      assert.strictEqual(yield* outcome, "done")
      yield* Fiber.join(stopping)
      assert.strictEqual(yield* stateOf(late.job), "queued")
      assert.strictEqual(gate.seen.length, 1)
    }))

  it.effect("claims no more jobs while it is asked to drain, and other workers continue", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { job, scheduler, settled, stop, worker, ...world } = yield* start(gate.run, {
        id: "asked",
        grace: "1 hour"
      })
      const own = Effect.map(
        scheduler.workers({ limit: 1_000 }),
        (workers) => workers.filter(({ id }) => id === "asked")
      )
      yield* scheduler.enqueue(job({ cap: 2 }))
      yield* gate.started
      assert.isFalse(yield* scheduler.drain("another"))
      assert.deepStrictEqual((yield* own).map(({ isDraining }) => isDraining), [false])
      for (const _ of ["once", "again"]) assert.isTrue(yield* scheduler.drain("asked"))
      assert.deepStrictEqual((yield* own).map(({ isDraining, running }) => [isDraining, running]), [[true, 1]])
      yield* TestClock.adjust("2 seconds")
      // It claims no more, and holds its lease until its job ends.
      const { job: next } = yield* scheduler.enqueue(job({ cap: 2 }))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* stateOf(next), "queued")
      assert.strictEqual((yield* worker.running).length, 1)
      yield* gate.open
      yield* settled
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* own).map(({ isDraining, running }) => [isDraining, running]), [[true, 0]])
      const other = yield* start(() => Effect.succeed("done"), { id: "other" }, { ...world, job })
      assert.strictEqual(yield* other.outcome, "done")
      yield* stop
      assert.deepStrictEqual(yield* own, [])
      assert.isFalse(yield* scheduler.drain("asked"))
      assert.isFalse(yield* scheduler.resume("asked"))
    }))

  it.effect("resumes when it is asked to, and keeps the jobs that it still runs", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { job, scheduler, settled, worker } = yield* start(gate.run, { id: "resumed", grace: "1 minute" })
      yield* scheduler.enqueue(job({ cap: 2 }))
      yield* gate.started
      assert.isTrue(yield* scheduler.drain("resumed"))
      yield* TestClock.adjust("2 seconds")
      const { job: next } = yield* scheduler.enqueue(job({ cap: 2 }))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* stateOf(next), "queued")
      for (const _ of ["once", "again"]) assert.isTrue(yield* scheduler.resume("resumed"))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* stateOf(next), "running")
      // The end of the grace that began before does not interrupt them.
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual((yield* worker.running).length, 2)
      yield* gate.open
      yield* settled
    }))

  it.effect("returns jobs that outlast the grace to the queue when it is asked to drain", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { job, scheduler, worker } = yield* start(gate.run, { id: "slow", grace: "30 seconds" })
      const { job: id } = yield* scheduler.enqueue(job())
      yield* gate.started
      yield* scheduler.drain("slow")
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* stateOf(id), "running")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* stateOf(id), "queued")
      assert.deepStrictEqual(yield* worker.running, [])
      yield* scheduler.resume("slow")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* stateOf(id), "running")
      yield* gate.open
    }))

  it.effect("stops while it is asked to drain", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { scheduler, stop } = yield* start(gate.run, { id: "stopped" })
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* scheduler.drain("stopped"))
      yield* TestClock.adjust("10 seconds")
      yield* stop
      assert.isFalse(yield* scheduler.resume("stopped"))
    }))

  it.effect("releases its jobs with their checkpoints when the grace ends", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const told: Array<unknown> = []
      const { claim, job, scheduler, stop } = yield* start(gate.run, {
        grace: "30 seconds",
        left: (attempts, reason) =>
          Effect.sync(() => {
            told.push(...attempts.map(({ epoch, job }) => ({ epoch, job, reason })))
          })
      })
      const { job: id } = yield* scheduler.enqueue(job())
      yield* gate.started
      yield* scheduler.checkpoint({ ...gate.seen[0]!, checkpoint: "half" })
      const stopping = yield* Effect.forkChild(stop)
      yield* TestClock.adjust("29 seconds")
      assert.deepStrictEqual(yield* claim(), [])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(stopping)
      yield* gate.interrupted
      assert.deepStrictEqual(told, [{ job: id, epoch: 1, reason: "returned" }])
      const [again] = yield* claim()
      assert.deepStrictEqual([again!.checkpoint, again!.epoch, again!.attempt], [Option.some("half"), 2, 1])
    }))

  it.effect("does nothing with a concurrency of 0", () =>
    Effect.gen(function*() {
      const { job, scheduler, stop } = yield* start(() => Effect.succeed("done"), { concurrency: 0 })
      const { job: id } = yield* scheduler.enqueue(job())
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* stateOf(id), "queued")
      yield* stop
    }))

  it.effect("polls for the jobs of other processes", () =>
    Effect.gen(function*() {
      const { job, outcome } = yield* start(() => Effect.succeed("done"))
      // As in another process: the same store, and a wake-up that does not reach this one.
      const wakeup = Wakeup.Wakeup.of({
        wake: Effect.void,
        wakeFor: () => Effect.void,
        announce: () => Effect.void,
        handovers: Handovers.make(),
        subscribe: Effect.sync(() => Latch.makeUnsafe(false)),
        subscribeTo: () => Effect.sync(() => Latch.makeUnsafe(false))
      })
      const elsewhere = yield* Layer.build(Layer.fresh(Scheduler.layerWith())).pipe(
        Effect.map((services) => Context.get(services, Scheduler.Scheduler)),
        Effect.provideService(Wakeup.Wakeup, wakeup)
      )
      yield* elsewhere.enqueue(job())
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* outcome, "done")
    }))

  it.effect("runs the jobs of its pools and leaves those of other pools", () =>
    Effect.gen(function*() {
      const { job, kind, scheduler, settled } = yield* start(() => Effect.succeed("done"), { pools: ["a", "b"] })
      const kinds = [JobKind.pool(kind, "c"), JobKind.pool(kind, "b"), kind, JobKind.pool(kind, "a")]
      const [other, ...own] = yield* Effect.forEach(kinds, (kind) => scheduler.enqueue(job({ kind, cap: 4 })))
      const ran = yield* Effect.forEach(own, () => settled)
      assert.sameMembers(ids(ran.map(({ job }) => job)), ids(own))
      assert.strictEqual(yield* stateOf(other!.job), "queued")
    }))

  it.effect("leaves the jobs of a pool without room queued, and runs those of other pools instead", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const limits = [{
        pools: ["a", "b"],
        room: Effect.sync(() => 1 - gate.seen.filter(({ kind }) => /:[ab]$/.test(kind)).length)
      }]
      const { job, kind, scheduler } = yield* start(gate.run, { pools: ["a", "b", "c"], limits, concurrency: 3 })
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const pools = ["a", "b", "a", "c", "c"]
      yield* atomically(
        Effect.forEach(pools, (pool) => scheduler.enqueue(job({ kind: JobKind.pool(kind, pool), cap: 5 })))
      )
      while (gate.seen.length < 3) yield* Effect.yieldNow
      yield* TestClock.adjust("1 minute")
      const names = gate.seen.map((job) => Option.getOrThrow(JobKind.poolOf(job.kind)))
      assert.deepStrictEqual(names.toSorted(), ["a", "c", "c"])
    }))

  it.effect("claims no jobs of a handler that is not open", () =>
    Effect.gen(function*() {
      let isOpen = false
      const { job, scheduler, settled } = yield* start(() => Effect.succeed("done"), {
        isOpen: Effect.sync(() => isOpen)
      })
      const { job: id } = yield* scheduler.enqueue(job())
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* stateOf(id), "queued")
      isOpen = true
      yield* TestClock.adjust("1 minute")
      yield* settled
    }))

  it.effect("claims resumable jobs of a pool without room, at most as many as it can run", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const scheduler = yield* Scheduler.Scheduler
      const kind = JobKind.pool(world.kind, "a")
      const jobs = yield* Effect.forEach([1, 2, 3, 4], () => scheduler.enqueue(world.job({ kind, cap: 5 })))
      const before = yield* world.claim({ kinds: [kind.name] })
      yield* Effect.forEach(
        before.slice(1),
        (job) => scheduler.checkpoint({ ...job, checkpoint: "at the provider", resumable: true })
      )
      yield* scheduler.release(before)
      const gate = yield* makeGate
      const limits = [{ pools: ["a"], room: Effect.succeed(0) }]
      const { settled } = yield* start(gate.run, { pools: ["a"], limits, concurrency: 2 }, world)
      yield* gate.started
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(ids(gate.seen), ids(jobs.slice(1, 3)))
      yield* gate.open
      yield* Effect.replicateEffect(settled, 3)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(ids(gate.seen), ids(jobs.slice(1)))
      assert.strictEqual(yield* stateOf(jobs[0]!.job), "queued")
    }))

  it.effect("runs a resumable job of a pool without room alone in its last attempt", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld
      const scheduler = yield* Scheduler.Scheduler
      const kind = JobKind.pool(world.kind, "a")
      const job = yield* scheduler.enqueue(world.job({ kind, attemptsMax: 2 }))
      const [lost] = yield* world.claim({ kinds: [kind.name], ttl: "1 second" })
      yield* scheduler.checkpoint({ ...lost!, checkpoint: "at the provider", resumable: true })
      const limits = [{ pools: ["a"], room: Effect.succeed(0) }]
      const { outcome } = yield* start(() => Effect.succeed("done"), { pools: ["a"], limits }, world)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* outcome, "done")
      assert.isUndefined(yield* stateOf(job.job))
    }))

  it.effect("claims the next job of a limited pool as soon as one ends", () =>
    Effect.gen(function*() {
      let now = 0
      let most = 0
      const { job, kind, scheduler, settled } = yield* start(
        () =>
          Effect.sync(() => most = Math.max(most, ++now)).pipe(
            Effect.andThen(Effect.yieldNow),
            Effect.andThen(Effect.sync(() => `${now--}`))
          ),
        { pools: ["a"], limits: [{ pools: ["a"], room: Effect.sync(() => 2 - now) }], concurrency: 8 }
      )
      const { atomically } = yield* UnitOfWork.UnitOfWork
      yield* atomically(Effect.forEach(
        Array.from({ length: 10 }),
        () => scheduler.enqueue(job({ kind: JobKind.pool(kind, "a"), cap: 10 }))
      ))
      yield* Effect.forEach(Array.from({ length: 10 }), () => settled)
      assert.strictEqual(most, 2)
    }))

  it.effect.each([
    { reserved: 0, most: 60_100, name: "the first that end" },
    { reserved: 1, most: 1_900, name: "each other, on the reserved slot" }
  ])(
    "jobs of other groups wait for $name beside long jobs of one group",
    ({ most, reserved }) =>
      Effect.gen(function*() {
        const waits: Array<number> = []
        const { group, job, lane, scheduler, settled } = yield* start(
          Effect.fnUntraced(function*({ claimedAt, enqueuedAt, ...job }) {
            if (job.group === group) return yield* Effect.delay(Effect.succeed("long"), "60 seconds")
            waits.push(claimedAt.epochMilliseconds - enqueuedAt.epochMilliseconds)
            return yield* Effect.delay(Effect.succeed("short"), "100 millis")
          }),
          { concurrency: 4, reserved }
        )
        yield* Effect.forEach(Array.from({ length: 16 }), () => scheduler.enqueue(job({ cap: 16 })))
        yield* TestClock.adjust("1 second")
        yield* Effect.forEach(
          Array.from({ length: 20 }),
          (_, n) => scheduler.enqueue(job({ lane: `${lane}-${n}`, group: `${group}-${n}` }))
        )
        yield* TestClock.adjust("10 minutes")
        yield* Effect.forEach(Array.from({ length: 36 }), () => settled)
        assert.strictEqual(waits.length, 20)
        assert.isAtMost(Math.max(...waits), most)
      })
  )

  it.effect("gives the reserved slot to the next group, and the others to one group", () =>
    Effect.gen(function*() {
      const gate = yield* makeGate
      const { group, job, lane, scheduler } = yield* start(gate.run, { concurrency: 3, reserved: 1 })
      yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(job({ cap: 3 })))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(gate.seen.map((job) => job.group), [group, group])
      yield* scheduler.enqueue(job({ lane: `${lane}-other`, group: `${group}-other` }))
      while (gate.seen.length < 3) yield* Effect.yieldNow
      yield* gate.open
      // As soon as one of the first two has ended, without a poll.
      while (gate.seen.length < 4) yield* Effect.yieldNow
      assert.deepStrictEqual(gate.seen.slice(2).map((job) => job.group), [`${group}-other`, group])
    }))

  it.effect("announces what it claims until it stops", () =>
    Effect.gen(function*() {
      const { kind, scheduler, stop } = yield* start(() => Effect.succeed("done"), { pools: ["a"], concurrency: 3 })
      const own = Effect.map(
        scheduler.queues,
        (queues) => queues.filter(({ workers }) => workers > 0).map(({ kind, slots }) => [kind, slots])
      )
      const offered = [[kind.name, 3], [JobKind.pool(kind, "a").name, 3]]
      // Longer than the lease.
      yield* TestClock.adjust("5 minutes")
      assert.includeDeepMembers(yield* own, offered)
      yield* stop
      for (const entry of offered) assert.notDeepInclude(yield* own, entry)
    }))

  it.effect("fails a started job of a pool that has no worker when its time limit passes", () =>
    Effect.gen(function*() {
      const { claim, job, kind, outcome, scheduler } = yield* start(() => Effect.succeed("done"))
      const gpu = JobKind.pool(kind, "gpu")
      yield* scheduler.enqueue(job({ kind: gpu, timeLimit: "1 minute" }))
      yield* claim({ kinds: [gpu.name] })
      // The lease expires, and later the time limit.
      yield* TestClock.adjust("2 minutes")
      assert.include(yield* outcome, "exceeded its time limit")
    }))

  it.effect("does not start with two handlers of one kind", () =>
    Effect.gen(function*() {
      const { kind } = yield* makeWorld
      const handler = JobHandler.make({ kind, run: () => Effect.void, failed: () => Effect.void })
      const exit = yield* Effect.exit(Effect.scoped(startWorker({ name: "worker", handlers: [handler, handler] })))
      assert.include(String(exit), "several handlers of one kind")
    }))

  it.effect.each([{ claimMax: 0 }, { claimMax: 1.5 }, { concurrency: -1 }, { concurrency: Number.NaN }, {
    reserved: -1
  }])(
    "does not start with %o",
    (options) =>
      Effect.gen(function*() {
        const { kind } = yield* makeWorld
        const handler = JobHandler.make({ kind, run: () => Effect.void, failed: () => Effect.void })
        const exit = yield* Effect.exit(Effect.scoped(startWorker({ name: "worker", handlers: [handler], ...options })))
        assert.include(String(exit), `The ${Object.keys(options).join()} of the worker`)
      })
  )
})
