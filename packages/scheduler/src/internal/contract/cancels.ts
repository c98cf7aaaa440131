/** Tests of jobs that have not started. */
import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, refusal, stateOf } from "./world.ts"

/** Registers tests of cancels. */
export const cancelTests = (test: Register): void => {
  test("cancels only jobs that have not started", () =>
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

  test("does not cancel a started job while it waits for its next worker", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [released, lost] = yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 2 })))
      yield* scheduler.release(yield* world.claim({ limit: 1 }))
      yield* world.claim({ limit: 2, ttl: "1 second" })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ids((yield* world.rescue()).requeued).toSorted(), ids([released!, lost!]).toSorted())
      for (const { job } of [released!, lost!]) {
        assert.strictEqual(yield* stateOf(job), "queued")
        assert.strictEqual((yield* refusal(scheduler.cancel(job)))._tag, "AlreadyRunning")
      }
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("accepts one of 16 concurrent cancels", () =>
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

  test("either cancels or claims a job, never both", () =>
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
}

/** Registers the test of jobs that wait for too long. */
export const overdueTests = (test: Register): void => {
  test("finds jobs that have not started for too long", () =>
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
      const old = yield* scheduler.waiting(0, 10)
      assert.deepStrictEqual(old.map(({ state }) => state), ["queued", "pending"])
      assert.strictEqual(old[1]!.job, pending.job)
      assert.deepStrictEqual(ids(yield* scheduler.waiting(0, 1)), ids(old.slice(0, 1)))
      const others = yield* scheduler.waiting(0, 1, ids(old.slice(0, 1)))
      assert.deepStrictEqual(ids(others), ids(old.slice(1)))
    }))
}
