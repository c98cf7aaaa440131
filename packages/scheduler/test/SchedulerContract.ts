/** What a scheduler promises on every backend. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Duration, Effect, type Layer, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import type { LaneCounters } from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import { type Backend, ids, makeWorld, refusal, stateOf } from "./Fixture.ts"

export const suite = <E>(name: string, backend: Layer.Layer<Backend, E>) =>
  layer(backend)(`Scheduler (${name})`, (it) => {
    it.effect("gives slots up to the cap, lets the next wait, and refuses beyond the group's limit (D7)", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const enqueue = (lane: string) =>
          scheduler.enqueue(world.job({ lane: `${world.lane}-${lane}`, cap: 2, waitingMax: 3 }))
        const states = yield* Effect.forEach(["a", "a", "a", "b", "b", "b", "a"], enqueue)
        assert.deepStrictEqual(
          states.map(({ state }) => state),
          ["queued", "queued", "pending", "queued", "queued", "pending", "pending"]
        )
        const reason = yield* refusal(enqueue("b"))
        if (reason._tag !== "QueueFull") return assert.fail(reason._tag)
        assert.deepStrictEqual([reason.group, reason.waiting, reason.max], [world.group, 3, 3])
        assert.strictEqual((yield* enqueue("c")).state, "queued")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("lets 20 jobs wait in a group when nobody says otherwise (D7)", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const results = yield* Effect.forEach(
          Array.from({ length: 30 }, () => world.job()),
          (job) => Effect.result(scheduler.enqueue(job)),
          { concurrency: 30 }
        )
        assert.strictEqual(results.filter(Result.isSuccess).length, 21)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("promotes the oldest in the unit that frees the slot (D7)", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const [first, second, third] = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job()))
        const [claimed] = yield* world.claim()
        assert.strictEqual(claimed?.job, first?.job)
        const saved = yield* atomically(Effect.gen(function*() {
          const lanes = yield* scheduler.open({ jobs: [claimed!] })
          const ended = lanes.settle(claimed!)
          if (Result.isSuccess(ended)) ended.success.keep()
          return yield* lanes.save
        }))
        assert.deepStrictEqual(saved.promoted, [second!.job])
        assert.deepStrictEqual(
          yield* Effect.forEach([first!.job, second!.job, third!.job], stateOf),
          [undefined, "queued", "pending"]
        )
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("writes nothing of a proposal that is dropped, or of a unit that fails", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const [dropped, undone] = [world.job(), world.job()]
        yield* atomically(Effect.gen(function*() {
          const lanes = yield* scheduler.open({ lanes: [dropped] })
          assert.isTrue(Result.isSuccess(lanes.enqueue(dropped)))
          yield* lanes.save
        }))
        yield* Effect.flip(atomically(Effect.andThen(scheduler.enqueue(undone), Effect.fail("no"))))
        assert.deepStrictEqual(yield* scheduler.find([dropped.job, undone.job]), [])
        assert.strictEqual((yield* scheduler.enqueue(world.job())).state, "queued")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("hands out what was enqueued, with what the scheduler knows of it", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* TestClock.adjust("1 hour")
        const command = world.job({ payload: { n: 7 }, attemptsMax: 5, timeLimit: "10 minutes" })
        const start = yield* DateTime.now
        yield* scheduler.enqueue(command)
        yield* TestClock.adjust("1 minute")
        const [claimed] = yield* world.claim()
        assert.deepStrictEqual<unknown>(
          { ...claimed!, timeLimit: Option.map(claimed!.timeLimit, Duration.toMillis) },
          {
            job: command.job,
            lane: world.lane,
            group: world.group,
            kind: world.kind.name,
            payload: { n: 7 },
            checkpoint: Option.none(),
            epoch: 1,
            attempt: 1,
            attemptsMax: 5,
            enqueuedAt: start,
            startedAt: DateTime.add(start, { minutes: 1 }),
            timeLimit: Option.some(600_000)
          }
        )
        const [status] = yield* scheduler.find([command.job])
        assert.deepStrictEqual([status?.state, status?.worker], ["running", Option.some("test")])
      }))

    it.effect("claims by kind, up to the limit, the oldest slot first", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const [world, other] = [yield* makeWorld, yield* makeWorld]
        yield* scheduler.enqueue(other.job())
        const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
        assert.deepStrictEqual(ids(yield* world.claim({ limit: 2 })), ids(jobs.slice(0, 2)))
        assert.deepStrictEqual(ids(yield* world.claim({ limit: 2 })), ids(jobs.slice(2)))
        assert.deepStrictEqual(yield* world.claim(), [])
        assert.deepStrictEqual(yield* world.claim({ kinds: [] }), [])
      }))

    it.effect("cancels what has not started, and nothing else (D7, D8)", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [a, b, c] = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job()))
        assert.deepStrictEqual(yield* scheduler.cancel(b!.job), { ...b!, state: "pending" })
        assert.deepStrictEqual(yield* scheduler.cancel(a!.job), { ...a!, state: "queued" })
        assert.strictEqual(yield* stateOf(c!.job), "queued")
        yield* world.claim()
        assert.strictEqual((yield* refusal(scheduler.cancel(c!.job)))._tag, "AlreadyRunning")
        assert.strictEqual((yield* refusal(scheduler.cancel(a!.job)))._tag, "NotFound")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("does not cancel a job that has started, also while it waits for its next worker (D7)", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [released, lost] = yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 2 })))
        yield* scheduler.release(yield* world.claim({ limit: 1 }))
        yield* world.claim({ limit: 2, lease: "1 second" })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued).toSorted(), ids([released!, lost!]).toSorted())
        for (const { job } of [released!, lost!]) {
          assert.strictEqual(yield* stateOf(job), "queued")
          assert.strictEqual((yield* refusal(scheduler.cancel(job)))._tag, "AlreadyRunning")
        }
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("lets one of 16 cancels at once win (D8)", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job())
        const results = yield* Effect.forEach(Array.from({ length: 16 }), () => Effect.result(scheduler.cancel(job)), {
          concurrency: 16
        })
        assert.strictEqual(results.filter(Result.isSuccess).length, 1)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("lets either a cancel or a claim have a job, never both", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        for (let round = 0; round < 20; round++) {
          const { job } = yield* scheduler.enqueue(world.job())
          const [cancelled, claimed] = yield* Effect.all([Effect.result(scheduler.cancel(job)), world.claim()], {
            concurrency: 2
          })
          assert.strictEqual(Result.isSuccess(cancelled), claimed.length === 0)
          if (claimed[0] !== undefined) yield* scheduler.settle(claimed[0])
        }
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("settles a job once, under its epoch only", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [claimed] = yield* world.claim()
        const wrong = yield* refusal(scheduler.settle({ ...claimed!, epoch: 2 }))
        assert.strictEqual(wrong._tag, "LeaseLost")
        assert.strictEqual((yield* scheduler.settle(claimed!)).state, "running")
        assert.strictEqual((yield* refusal(scheduler.settle(claimed!)))._tag, "LeaseLost")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("changes nothing by the hand of a worker that was given up for lost", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [lost] = yield* world.claim()
        yield* scheduler.checkpoint({ ...lost!, checkpoint: { step: 1 } })
        yield* TestClock.adjust("29 seconds")
        assert.deepStrictEqual(yield* world.rescue(), { requeued: [], exhausted: [] })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [lost!.job])

        const attempts = () =>
          Effect.all([
            Effect.map(refusal(scheduler.settle(lost!)), ({ _tag }) => _tag),
            Effect.map(refusal(scheduler.checkpoint({ ...lost!, checkpoint: "late" })), ({ _tag }) => _tag),
            Effect.map(scheduler.heartbeat([lost!], "30 seconds"), ids),
            scheduler.release([lost!])
          ])
        assert.deepStrictEqual(yield* attempts(), ["LeaseLost", "LeaseLost", [lost!.job], undefined])
        const [taker] = yield* world.claim()
        assert.deepStrictEqual(yield* attempts(), ["LeaseLost", "LeaseLost", [lost!.job], undefined])

        assert.deepStrictEqual(
          [taker!.epoch, taker!.attempt, taker!.checkpoint, taker!.startedAt],
          [2, 2, Option.some({ step: 1 }), lost!.startedAt]
        )
        assert.strictEqual((yield* scheduler.settle(taker!)).job, lost!.job)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("keeps a lease alive as long as heartbeats come", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 2 })))
        const [kept, left] = yield* world.claim()
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(yield* scheduler.heartbeat([kept!], "30 seconds"), [])
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [left!.job])
        assert.deepStrictEqual(yield* scheduler.heartbeat([kept!, left!], "30 seconds"), [left!])
      }))

    it.effect("has every lease run out at once for who knows that no worker is alive", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job({ cap: 2 }))
        yield* scheduler.enqueue(world.job({ cap: 2, attemptsMax: 1 }))
        const [lost, last] = yield* world.claim()
        yield* scheduler.checkpoint({ ...lost!, checkpoint: { step: 1 } })
        assert.isAtLeast(yield* scheduler.expireLeases, 2)
        assert.strictEqual(yield* scheduler.expireLeases, 0)

        const { exhausted, requeued } = yield* world.rescue()
        assert.deepStrictEqual(ids(requeued), [lost!.job])
        // The attempt was used up: a job that ends its process is not tried for ever.
        assert.deepStrictEqual(ids(exhausted), [last!.job])
        const [taker] = yield* world.claim()
        assert.deepStrictEqual([taker!.epoch, taker!.attempt, taker!.checkpoint], [2, 2, Option.some({ step: 1 })])
        assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
        assert.strictEqual((yield* scheduler.settle(taker!)).job, lost!.job)
        assert.strictEqual((yield* scheduler.settle(exhausted[0]!)).job, last!.job)
      }))

    it.effect("hands a job without attempts left to its rescuer, who alone can end it", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job({ attemptsMax: 1 }))
        const [lost] = yield* world.claim()
        yield* TestClock.adjust("30 seconds")
        const [first] = (yield* world.rescue()).exhausted
        assert.deepStrictEqual([first!.job, first!.epoch, first!.attempt, first!.attemptsMax], [job, 2, 1, 1])
        // The rescuer is lost too.
        assert.deepStrictEqual(yield* world.rescue(), { requeued: [], exhausted: [] })
        yield* TestClock.adjust("30 seconds")
        const [second] = (yield* world.rescue()).exhausted
        assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
        assert.strictEqual((yield* refusal(scheduler.settle(first!)))._tag, "LeaseLost")
        assert.strictEqual((yield* scheduler.settle(second!)).job, job)
      }))

    it.effect("queues a released job before all others, and gives its attempt back", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const [a, b, c] = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
        const claimed = yield* world.claim({ limit: 2 })
        yield* scheduler.checkpoint({ ...claimed[0]!, checkpoint: "kept" })
        yield* scheduler.release([claimed[1]!, claimed[0]!])
        const again = yield* world.claim()
        assert.deepStrictEqual(ids(again), ids([a!, b!, c!]))
        assert.deepStrictEqual([again[0]!.epoch, again[0]!.attempt], [2, 1])
        assert.deepStrictEqual(again[0]!.checkpoint, Option.some("kept"))
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("keeps the last of several checkpoints, of the newest epoch only", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const [first] = yield* world.claim()
        yield* scheduler.release([first!])
        const [second] = yield* world.claim()
        const results = yield* Effect.forEach(
          [[second!, 1], [first!, 2], [second!, 3], [first!, 4]] as const,
          ([lease, checkpoint]) => Effect.result(scheduler.checkpoint({ ...lease, checkpoint })),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(results.map(Result.isSuccess), [true, false, true, false])
        yield* scheduler.release([second!])
        assert.deepStrictEqual((yield* world.claim())[0]!.checkpoint, Option.some(3))
      }))

    it.effect("picks up a new cap: more slots promote at once, fewer take none away (D6)", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const jobs = yield* Effect.forEach([1, 2, 3, 4], () => scheduler.enqueue(world.job()))
        const states = () => Effect.forEach(jobs, ({ job }) => stateOf(job))
        yield* scheduler.setCap({ lane: world.lane, group: world.group, cap: 3 })
        assert.deepStrictEqual(yield* states(), ["queued", "queued", "queued", "pending"])
        yield* scheduler.setCap({ lane: world.lane, group: world.group, cap: 1 })
        yield* scheduler.cancel(jobs[0]!.job)
        assert.deepStrictEqual(yield* states(), [undefined, "queued", "queued", "pending"])
        // A plan that changed is known with the next job.
        const last = yield* scheduler.enqueue(world.job({ cap: 4 }))
        assert.deepStrictEqual(yield* states(), [undefined, "queued", "queued", "queued"])
        assert.strictEqual(yield* stateOf(last.job), "queued")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("finds jobs that have waited too long, of those that have not started (D7)", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        // Before whatever other tests of this database have enqueued.
        yield* TestClock.setTime(-1_000_000_000)
        yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
        const [, released] = yield* world.claim({ limit: 2 })
        yield* scheduler.release([released!])
        const pending = yield* scheduler.enqueue(world.job({ cap: 3 }))
        yield* TestClock.adjust("24 hours")
        yield* scheduler.enqueue(world.job({ cap: 3 }))
        const old = yield* scheduler.waitingSince(yield* DateTime.now, 10)
        assert.deepStrictEqual(old.map(({ state }) => state), ["queued", "pending"])
        assert.strictEqual(old[1]!.job, pending.job)
        assert.deepStrictEqual(ids(yield* scheduler.waitingSince(yield* DateTime.now, 1)), ids(old.slice(0, 1)))
        const others = yield* scheduler.waitingSince(yield* DateTime.now, 1, ids(old.slice(0, 1)))
        assert.deepStrictEqual(ids(others), ids(old.slice(1)))
      }))

    it.effect("does not let a lane move to another group", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        yield* scheduler.enqueue(world.job())
        const exit = yield* Effect.exit(scheduler.enqueue(world.job({ group: "another" })))
        assert.include(String(exit), "belongs to the group")
      }))

    it.effect("opens lanes inside of units only, and decides only on what was opened", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const world = yield* makeWorld
        const outside = yield* Effect.exit(scheduler.open({ lanes: [world] }))
        assert.include(String(outside), "outside of a unit")
        const other = yield* Effect.exit(atomically(
          Effect.map(scheduler.open({ lanes: [world] }), (lanes) => lanes.enqueue(world.job({ lane: "not opened" })))
        ))
        assert.include(String(other), "was not opened")
      }))

    it.effect("does not enqueue an id twice", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const { job } = yield* scheduler.enqueue(world.job())
        const error = yield* Effect.flip(scheduler.enqueue(world.job({ job })))
        assert.isTrue(error._tag === "StorageError" && !error.isRetryable)
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))

    it.effect("finds counters that are wrong, and makes them right", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const store = yield* SchedulerStore
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const { group, job, lane } = yield* makeWorld
        const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(job({ cap: 2 })))
        const write = (counters: Partial<LaneCounters>, waiting: number) =>
          atomically(Effect.gen(function*() {
            const now = yield* DateTime.now
            const lanes = [{ lane, group, cap: 2, held: 2, waiting: 1, ...counters }]
            yield* store.apply({ ended: [], enqueued: [], promotions: [], groups: [{ group, waiting }], lanes }, now)
          }))

        yield* write({ held: 5, waiting: 0 }, 7)
        assert.deepStrictEqual(yield* scheduler.verify, [
          { of: "group", id: group, counter: "waiting", stored: 7, found: 1 },
          { of: "lane", id: lane, counter: "held", stored: 5, found: 2 },
          { of: "lane", id: lane, counter: "waiting", stored: 0, found: 1 }
        ])
        yield* scheduler.rebuild
        assert.deepStrictEqual(yield* scheduler.verify, [])
        assert.strictEqual(yield* stateOf(jobs[2]!.job), "pending")

        // Somebody waited beside a slot that only the counters took for held.
        yield* write({ cap: 3, held: 3 }, 1)
        yield* scheduler.rebuild
        assert.strictEqual(yield* stateOf(jobs[2]!.job), "queued")
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))
  })
