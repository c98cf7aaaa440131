/** Tests of the time until jobs are due, and of units of work with delayed jobs. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Duration, Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, stateOf } from "./world.ts"

/** Registers the test of the time until the next job is due. No other test has delayed jobs in this store before. */
export const dueInTests = (test: Register): void => {
  test("returns the time until the next delayed job is due", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const millis = Effect.map(scheduler.dueIn, Option.map(Duration.toMillis))
      assert.deepStrictEqual(yield* millis, Option.none())
      yield* scheduler.enqueue({ ...world.job(), delay: "2 minutes" })
      yield* scheduler.enqueue({ ...world.job(), delay: "1 minute" })
      assert.deepStrictEqual(yield* millis, Option.some(60_000))
      yield* TestClock.adjust("90 seconds")
      assert.deepStrictEqual(yield* millis, Option.some(0))
      yield* scheduler.enqueueDue(1_000)
      assert.deepStrictEqual(yield* millis, Option.some(30_000))
      yield* TestClock.adjust("30 seconds")
      yield* scheduler.enqueueDue(1_000)
      assert.deepStrictEqual(yield* millis, Option.none())
    }))
}

/** Registers tests of units. */
export const delayUnitTests = (test: Register): void => {
  test("belongs to the unit that enqueues, ends or places it", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const undo = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.flip(atomically(Effect.andThen(effect, Effect.fail("no" as const))))
      const [undone, kept, dropped] = [world.job(), world.job(), world.job()]
      yield* undo(scheduler.enqueue({ ...undone, delay: "1 second" }))
      yield* scheduler.enqueue({ ...kept, delay: "1 second" })
      yield* undo(scheduler.cancel(kept.job))
      yield* TestClock.adjust("1 second")
      yield* undo(scheduler.enqueueDue(1_000))
      assert.deepStrictEqual(yield* Effect.forEach(ids([undone, kept]), stateOf), [undefined, "delayed"])
      // Both decisions in one unit.
      yield* atomically(Effect.gen(function*() {
        const loaded = yield* scheduler.load({ lanes: [world], jobs: [kept] })
        const { state } = Result.getOrThrow(Lanes.delay(loaded, { ...dropped, delay: "1 second" }))
        const without = Result.getOrThrow(Lanes.cancel(state, dropped.job)).state
        const aborted = Result.getOrThrow(Lanes.abort(without, kept.job))
        assert.strictEqual(aborted.value.state, "delayed")
        const again = Result.getOrThrow(Lanes.delay(aborted.state, { ...kept, delay: "1 second" }))
        yield* scheduler.save(again.state)
      }))
      assert.deepStrictEqual(yield* Effect.forEach(ids([dropped, kept]), stateOf), [undefined, "delayed"])
      yield* TestClock.adjust("1 second")
      yield* scheduler.enqueueDue(1_000)
      assert.strictEqual(yield* stateOf(kept.job), "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers tests of lists and concurrent calls. */
export const concurrentDelayTests = (test: Register): void => {
  test("shows delayed jobs", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const now = yield* DateTime.now
      const { job } = yield* scheduler.enqueue({ ...world.job(), delay: "2 minutes" })
      const busy = { lane: `${world.lane}-busy` }
      yield* scheduler.enqueue(world.job(busy))
      yield* scheduler.enqueue({ ...world.job(busy), delay: "1 minute" })
      const [status] = yield* scheduler.find([job])
      assert.deepInclude(status, {
        job,
        state: "delayed",
        attempt: 0,
        enqueuedAt: now,
        dueAt: Option.some(DateTime.addDuration(now, "2 minutes"))
      })
      const counts = { cap: 1, weight: 1, pending: 0, running: 0, delayed: 1, group: world.group }
      const lanes = [{ ...counts, lane: world.lane, queued: 0 }, { ...counts, ...busy, queued: 1 }]
      assert.deepStrictEqual(yield* scheduler.lanes({ group: world.group, limit: 10 }), lanes)
      assert.deepStrictEqual(yield* scheduler.lanes({ after: world.lane, limit: 1 }), lanes.slice(1))
      const queue = (yield* scheduler.queues).find(({ kind }) => kind === world.kind.name)
      assert.deepInclude(queue, { pending: 0, queued: 1, running: 0, delayed: 2, oldest: Option.some(now) })
      // Jobs that wait for a worker are looked for, and these do not.
      yield* TestClock.adjust("59 seconds")
      const waiting = yield* scheduler.waiting("1 second", 1_000)
      assert.notInclude(ids(waiting), job)
    }))

  test("places each job once, or it is cancelled, when many place and cancel at the same time", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const jobs = yield* Effect.forEach(Array.from({ length: 60 }, (_, n) => n), (n) => {
        const lane = `${world.lane}-${n % 3}`
        return scheduler.enqueue({ ...world.job({ lane, group: lane, cap: 50 }), delay: "1 second" })
      })
      yield* TestClock.adjust("1 second")
      const place = Effect.repeat(scheduler.enqueueDue(7), { until: (count) => count === 0 })
      const cancel = (job: string) => Effect.result(scheduler.cancel(job))
      const [cancels] = yield* Effect.all([
        Effect.forEach(ids(jobs).filter((_, n) => n % 2 === 0), cancel, { concurrency: 8 }),
        Effect.forEach([1, 2, 3, 4], () => place, { concurrency: 4 })
      ], { concurrency: 2 })
      // Those whose lanes were locked each time.
      yield* place
      // Placed jobs are not started yet, so they can be cancelled too.
      assert.isTrue(cancels.every(Result.isSuccess))
      const claimed = yield* world.claim({ limit: 100 })
      assert.sameMembers(ids(claimed), ids(jobs).filter((_, n) => n % 2 === 1))
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}
