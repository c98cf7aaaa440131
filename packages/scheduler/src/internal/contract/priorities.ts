/** Tests of priorities. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as CronSchedule from "../../CronSchedule.ts"
import * as JobKind from "../../JobKind.ts"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import { AlreadyRunning } from "../reasons.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, refusal, stateOf, takeLease } from "./world.ts"

/** Registers tests of the order in a lane. */
export const priorityTests = (test: Register): void => {
  test("start the jobs of a lane with the highest priority first, and the oldest of those with the same", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const jobs = [0, 5, 0, 100, 5, 0].map((priority) => world.job({ cap: many, priority }))
      yield* Effect.forEach(jobs, (job) => scheduler.enqueue(job))
      const started: Array<string> = []
      for (const limit of [1, 2, 1, 1, 1]) started.push(...ids(yield* world.claim({ limit })))
      assert.deepStrictEqual(started, [3, 1, 4, 0, 2, 5].map((index) => jobs[index]!.job))
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("give the free slots of a lane to the waiting jobs with the highest priority", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const jobs = [0, 0, 5, 0, 9, 5].map((priority) => world.job({ priority }))
      const states = yield* Effect.forEach(jobs, (job) => Effect.map(scheduler.enqueue(job), ({ state }) => state))
      assert.deepStrictEqual(states, ["queued", "pending", "pending", "pending", "pending", "pending"])
      // One slot after the other, two together, and one with jobs that are enqueued beside it.
      const [first] = yield* world.claim()
      assert.strictEqual(first?.job, jobs[0]!.job)
      yield* scheduler.settle(first!)
      assert.strictEqual(yield* stateOf(jobs[4]!.job), "queued")
      const { promoted } = yield* scheduler.setCap({ ...world, cap: 3 })
      assert.deepStrictEqual([...promoted], ids([jobs[2]!, jobs[5]!]))
      const late = world.job({ cap: 3, priority: 1 })
      yield* atomically(Effect.gen(function*() {
        const loaded = yield* scheduler.load({ lanes: [late], jobs: [jobs[4]!] })
        const cancelled = yield* Effect.fromResult(Lanes.cancel(loaded, jobs[4]!.job))
        const enqueued = yield* Effect.fromResult(Lanes.enqueue(cancelled.state, late))
        assert.strictEqual(enqueued.value.state, "pending")
        assert.deepStrictEqual(yield* scheduler.save(enqueued.state), { promoted: [late.job] })
      }))
      assert.deepStrictEqual(ids(yield* world.claim({ limit: 2 })).toSorted(), ids([jobs[2]!, jobs[5]!]).toSorted())
      assert.deepStrictEqual(ids(yield* world.claim()), [late.job])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("order the jobs of all kinds of a lane that the worker claims", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [fast, slow] = [JobKind.pool(world.kind, "fast"), JobKind.pool(world.kind, "slow")]
      const add = (kind: typeof fast, priority: number) =>
        Effect.map(scheduler.enqueue(world.job({ cap: many, kind, priority })), ({ job }) => job)
      const jobs = [yield* add(fast, 0), yield* add(slow, 9), yield* add(fast, 5), yield* add(slow, 1)]
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [fast.name], limit: 1 })), [jobs[2]])
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [fast.name, slow.name], limit: 1 })), [jobs[1]])
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [fast.name, slow.name], limit: 1 })), [jobs[3]])
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [fast.name, slow.name], limit: 1 })), [jobs[0]])
    }))
}

/** Registers tests of priorities that are kept. */
export const keptPriorityTests = (test: Register): void => {
  test("are kept by delayed jobs, by retries and by jobs of schedules", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const delayed = world.job({ cap: many, priority: 7 })
      yield* scheduler.enqueue({ ...delayed, delay: "1 minute" })
      const priorityOf = (job: string) => Effect.map(scheduler.find([job]), ([found]) => found?.priority)
      assert.strictEqual(yield* priorityOf(delayed.job), 7)
      const schedule = CronSchedule.make({
        ...world.job({ cap: many, priority: 8 }),
        name: `schedule-${world.lane}`,
        cron: "* * * * *",
        payload: () => ({ n: 1 })
      })
      yield* scheduler.enqueueTicks([schedule])
      yield* TestClock.adjust("1 minute")
      yield* scheduler.enqueueTicks([schedule])
      const plain = world.job({ cap: many })
      yield* scheduler.enqueue(plain)
      yield* scheduler.enqueueDue(many)
      const [tick] = yield* world.claim({ limit: 1 })
      assert.strictEqual(yield* priorityOf(tick!.job), 8)
      const [failed] = yield* world.claim({ limit: 1 })
      assert.strictEqual(failed?.job, delayed.job)
      yield* atomically(Effect.gen(function*() {
        const loaded = yield* scheduler.load({ jobs: [failed!] })
        yield* scheduler.save(
          (yield* Effect.fromResult(Lanes.retry(loaded, { ...failed!, delay: "1 minute" }))).state
        )
      }))
      assert.strictEqual(yield* priorityOf(delayed.job), 7)
      yield* TestClock.adjust("1 minute")
      yield* scheduler.enqueueDue(many)
      assert.deepInclude((yield* world.claim({ limit: 1 }))[0], { job: delayed.job, failures: 1 })
      assert.deepStrictEqual(ids(yield* world.claim()), [plain.job])
    }))

  test("do not start a job before one of the lane that has started", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [released, lost, urgent] = [
        world.job({ cap: many }),
        world.job({ cap: many }),
        world.job({
          cap: many,
          priority: 9
        })
      ]
      yield* scheduler.enqueue(released)
      const lease = yield* takeLease("1 hour")
      const claim = (limit: number) => scheduler.claim({ lease, worker: "test", kinds: [world.kind.name], limit })
      yield* scheduler.release(yield* claim(1))
      yield* scheduler.enqueue(urgent)
      yield* scheduler.enqueue(lost)
      assert.deepStrictEqual(ids(yield* claim(1)), [released.job])
      assert.deepStrictEqual(ids(yield* claim(1)), [urgent.job])
      // Its worker dies between the claim and the settlement.
      yield* world.claim({ ttl: "1 second" })
      yield* scheduler.enqueue(world.job({ cap: many, priority: 10 }))
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [lost.job])
      assert.deepStrictEqual(ids(yield* world.claim({ limit: 1 })), [lost.job])
    }))
}

/** Registers tests of several workers. */
export const concurrentPriorityTests = (test: Register): void => {
  test("of several workers on one lane are followed by each, and none gets a job twice or more than the cap", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const jobs = Array.from({ length: 40 }, (_, n) => world.job({ cap: 1, waitingMax: 40, priority: (7 * n) % 11 }))
      yield* Effect.forEach(jobs, (job) => scheduler.enqueue(job))
      const started: Array<string> = []
      while (started.length < jobs.length) {
        const claimed = yield* Effect.all([world.claim(), world.claim()], { concurrency: "unbounded" })
        const [job, ...others] = claimed.flat()
        if (job === undefined) continue
        assert.deepStrictEqual(others, [])
        started.push(job.job)
        yield* scheduler.settle(job)
      }
      const rest = jobs.slice(1).toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))
      assert.deepStrictEqual(started, ids([jobs[0]!, ...rest]))
      // With more slots, each claim takes its places, whatever the other one exchanges.
      const wide = Array.from({ length: 60 }, (_, n) => world.job({ cap: many, priority: (7 * n) % 11 }))
      yield* Effect.forEach(wide, (job) => scheduler.enqueue(job))
      const claimed = yield* Effect.all(Array.from({ length: 6 }, () => world.claim({ limit: 10 })), {
        concurrency: "unbounded"
      })
      const rest2 = yield* world.claim({ limit: 60 })
      assert.sameMembers([...ids(claimed.flat()), ...ids(rest2)], ids(wide))
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("leave a job that lost its place to be cancelled, and its unique key to be held", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const unique = { key: "once" }
      const [plain, urgent, next] = [
        world.job({ cap: many, unique }),
        world.job({ cap: many, priority: 1 }),
        world.job({
          cap: many,
          priority: 1
        })
      ]
      yield* Effect.forEach([plain, urgent, next], (job) => scheduler.enqueue(job))
      assert.deepStrictEqual(ids(yield* world.claim({ limit: 1 })), [urgent.job])
      assert.deepInclude(yield* refusal(scheduler.enqueue(world.job({ unique }))), { job: plain.job })
      assert.deepInclude(yield* scheduler.cancel(plain.job), { state: "queued" })
      assert.deepInclude(yield* scheduler.cancel(next.job), { state: "queued" })
      assert.deepStrictEqual(yield* refusal(scheduler.cancel(urgent.job)), new AlreadyRunning({ job: urgent.job }))
      assert.strictEqual((yield* scheduler.enqueue(world.job({ cap: many, unique }))).state, "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers the test of slots that are exchanged. */
export const swappedPriorityTests = (test: Register): void => {
  test("give the slots of jobs that no worker claims to the waiting job with the highest priority", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [served, lost] = [JobKind.pool(world.kind, "served"), JobKind.pool(world.kind, "lost")]
      yield* scheduler.takeLease({ id: served.name, worker: "test", kinds: [served.name], slots: 1, ttl: "1 hour" })
      const add = (kind: typeof lost, priority: number) =>
        Effect.map(scheduler.enqueue(world.job({ kind, cap: 2, priority })), ({ job }) => job)
      const [urgent, plain] = [yield* add(lost, 3), yield* add(lost, 0)]
      const waiting = [yield* add(served, 0), yield* add(served, 2)]
      assert.deepStrictEqual(ids((yield* scheduler.swapSlots(1)).displaced), [plain])
      assert.deepStrictEqual(yield* Effect.forEach([urgent, ...waiting], stateOf), ["queued", "pending", "queued"])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const many = 1_000
