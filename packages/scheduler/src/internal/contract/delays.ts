/** Tests of delayed jobs. */
import { assert } from "@effect/vitest"
import { DateTime, Duration, Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, refusal, stateOf } from "./world.ts"

/** Registers tests of the time of a delayed job. */
export const delayTests = (test: Register): void => {
  test("places a job when it is due, and not before", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const start = yield* DateTime.now
      const command = world.job({ payload: { n: 7 }, attemptsMax: 5, timeLimit: "10 minutes" })
      const enqueued = yield* scheduler.enqueue({ ...command, delay: "1 minute" })
      assert.deepStrictEqual(enqueued, { job: command.job, lane: world.lane, group: world.group, state: "delayed" })
      yield* TestClock.adjust(59_999)
      yield* scheduler.enqueueDue(1_000)
      assert.strictEqual(yield* stateOf(command.job), "delayed")
      assert.deepStrictEqual(yield* world.claim(), [])
      yield* TestClock.adjust(1)
      yield* scheduler.enqueueDue(1_000)
      const [claimed] = yield* world.claim()
      assert.deepInclude(claimed, {
        job: command.job,
        payload: { n: 7 },
        attempt: 1,
        attemptsMax: 5,
        enqueuedAt: DateTime.addDuration(start, "1 minute")
      })
      assert.deepStrictEqual(Option.map(claimed!.timeLimit, Duration.toMillis), Option.some(600_000))
      yield* scheduler.settle(claimed!)
      yield* scheduler.enqueueDue(1_000)
      assert.deepStrictEqual(yield* scheduler.find([command.job]), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("starts a job at a time, and immediately if it has passed", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const now = yield* DateTime.now
      const lane = { cap: 3 }
      const later = { ...world.job(lane), runAt: DateTime.addDuration(now, "1 hour") }
      const past = { ...world.job(lane), runAt: new Date(now.epochMilliseconds - 1) }
      for (const command of [later, past]) assert.strictEqual((yield* scheduler.enqueue(command)).state, "delayed")
      const none = { ...world.job(lane), delay: 0 }
      assert.strictEqual((yield* scheduler.enqueue(none)).state, "queued")
      yield* scheduler.enqueueDue(1_000)
      assert.sameMembers(ids(yield* world.claim()), ids([none, past]))
      yield* TestClock.adjust("1 hour")
      yield* scheduler.enqueueDue(1_000)
      assert.deepStrictEqual(ids(yield* world.claim()), [later.job])
      const both = yield* Effect.exit(scheduler.enqueue({ ...world.job(), delay: 1, runAt: now }))
      assert.match(String(both), /either `delay` or `runAt`/)
    }))

  test("holds no slot and does not count as waiting before it is due", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      for (const _ of [1, 2, 3]) yield* scheduler.enqueue({ ...world.job({ waitingMax: 0 }), delay: "1 hour" })
      const first = yield* scheduler.enqueue(world.job({ waitingMax: 1 }))
      const second = yield* scheduler.enqueue(world.job({ waitingMax: 1 }))
      assert.deepStrictEqual([first.state, second.state], ["queued", "pending"])
      assert.deepStrictEqual(yield* scheduler.verify, [])
      yield* scheduler.rebuild
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers tests of the order of due jobs, and of the longest delay. */
export const dueOrderTests = (test: Register): void => {
  test("refuses a job that is due too late, and shows one that is due as late as possible", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const last = new Date("9999-12-31T23:59:59.999Z")
      for (
        const late of [{ delay: Infinity }, { delay: "36501 days" }, { runAt: new Date(last.getTime() + 1) }] as const
      ) assert.match(String(yield* Effect.exit(scheduler.enqueue({ ...world.job(), ...late }))), /9999|36500 days/)
      const byDelay = yield* scheduler.enqueue({ ...world.job(), delay: "36500 days" })
      const byTime = yield* scheduler.enqueue({ ...world.job(), runAt: last })
      const found = yield* scheduler.find(ids([byDelay, byTime]))
      assert.deepStrictEqual(found.map(({ dueAt }) => dueAt), [
        Option.some(DateTime.addDuration(yield* DateTime.now, "36500 days")),
        Option.some(DateTime.makeUnsafe(last))
      ])
      yield* Effect.forEach(ids([byDelay, byTime]), scheduler.cancel)
    }))

  test("places due jobs in the order in which they are due, under the cap of that moment", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const delays = ["4 seconds", "2 seconds", "3 seconds", "1 second"] as const
      const jobs = yield* Effect.forEach(delays, (delay) => scheduler.enqueue({ ...world.job(), delay }))
      yield* scheduler.setCap({ ...world, cap: 2 })
      yield* TestClock.adjust("5 seconds")
      yield* scheduler.enqueueDue(1_000)
      assert.deepStrictEqual(yield* Effect.forEach(ids(jobs), stateOf), ["pending", "queued", "pending", "queued"])
      const claimed = yield* world.claim()
      assert.deepStrictEqual(ids(claimed), [jobs[3]!.job, jobs[1]!.job])
      for (const job of claimed) yield* scheduler.settle(job)
      assert.deepStrictEqual(ids(yield* world.claim()), [jobs[2]!.job, jobs[0].job])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers tests of queues that are full. */
export const fullQueueTests = (test: Register): void => {
  test("leaves a due job delayed while its queue is full, and tries it again after growing pauses", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const running = yield* scheduler.enqueue(world.job())
      const late = yield* scheduler.enqueue({ ...world.job({ waitingMax: 0 }), delay: "1 second" })
      const other = yield* scheduler.enqueue({ ...world.job({ lane: `${world.lane}-other` }), delay: "1 second" })
      yield* TestClock.adjust("1 second")
      yield* scheduler.enqueueDue(1_000)
      // The job of another lane is not held up.
      assert.deepStrictEqual(yield* Effect.forEach([late.job, other.job], stateOf), ["delayed", "queued"])
      assert.strictEqual(yield* scheduler.enqueueDue(1_000), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* scheduler.enqueueDue(1_000), 1)
      yield* TestClock.adjust(1_999)
      assert.strictEqual(yield* scheduler.enqueueDue(1_000), 0)
      yield* scheduler.cancel(running.job)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* scheduler.enqueueDue(1_000), 1)
      assert.strictEqual(yield* stateOf(late.job), "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("takes any limit on waiting jobs, like a job without a delay", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const limits = [Infinity, Number.MAX_SAFE_INTEGER, 1.5, -1]
      const enqueue = (waitingMax: number, n: number) => {
        const apart = { lane: `${world.lane}-${n}`, group: `${world.group}-${n}` }
        return Effect.andThen(
          Effect.forEach(
            Array.from({ length: 22 }),
            () => scheduler.enqueue(world.job({ ...apart, waitingMax: 30 }))
          ),
          scheduler.enqueue({ ...world.job({ ...apart, waitingMax }), delay: "1 second" })
        )
      }
      const jobs = yield* Effect.forEach(limits, enqueue)
      yield* TestClock.adjust("1 second")
      yield* scheduler.enqueueDue(1_000)
      assert.deepStrictEqual(yield* Effect.forEach(ids(jobs), stateOf), ["pending", "pending", "delayed", "delayed"])
      yield* Effect.forEach(ids(jobs), scheduler.cancel)
    }))
}

/** Registers tests of cancels and ids. */
export const cancelledDelayTests = (test: Register): void => {
  test("cancels a delayed job once, and never places it", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const { job } = yield* scheduler.enqueue({ ...world.job(), delay: "1 minute" })
      const results = yield* Effect.forEach([1, 2, 3, 4], () => Effect.result(scheduler.cancel(job)), {
        concurrency: 4
      })
      const cancelled = results.filter(Result.isSuccess).map(({ success }) => success.state)
      assert.deepStrictEqual(cancelled, ["delayed"])
      assert.strictEqual((yield* refusal(scheduler.cancel(job)))._tag, "NotFound")
      yield* TestClock.adjust("1 hour")
      yield* scheduler.enqueueDue(1_000)
      assert.deepStrictEqual(yield* world.claim(), [])
      // Its id is free again.
      assert.strictEqual((yield* scheduler.enqueue(world.job({ job }))).state, "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("refuses a job with the id of a delayed one, and a delayed one with the id of a job", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [first, second] = [world.job(), world.job()]
      yield* scheduler.enqueue({ ...first, delay: "1 minute" })
      yield* scheduler.enqueue(second)
      for (
        const command of [first, { ...first, delay: "1 minute" as const }, { ...second, delay: "1 minute" as const }]
      ) {
        const error = yield* Effect.flip(scheduler.enqueue(command))
        assert.strictEqual(error._tag, "StorageError")
      }
      assert.deepStrictEqual(yield* Effect.forEach(ids([first, second]), stateOf), ["delayed", "queued"])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}
