/** Tests of failed jobs that are delayed. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type Duration, Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import type { ClaimedJob } from "../../Job.ts"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, refusal, stateOf } from "./world.ts"

/** Registers tests of one retry. */
export const retryTests = (test: Register): void => {
  test("delays a failed job with its checkpoint, and frees its slot in the same unit", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const first = yield* scheduler.enqueue(world.job({ payload: { n: 7 }, attemptsMax: 5, timeLimit: "1 minute" }))
      const second = yield* scheduler.enqueue(world.job())
      const [claimed] = yield* world.claim()
      yield* scheduler.checkpoint({ ...claimed!, checkpoint: { frames: 12 } })
      assert.deepStrictEqual(yield* retry(claimed!, "10 minutes"), { promoted: [second.job] })
      const [status] = yield* scheduler.find([first.job])
      assert.deepInclude(status, { state: "delayed", failures: 1, epoch: 1 })
      assert.strictEqual((yield* refusal(scheduler.cancel(first.job)))._tag, "AlreadyRunning")
      assert.deepStrictEqual(yield* scheduler.verify, [])

      yield* TestClock.adjust("10 minutes")
      yield* scheduler.cancel(second.job)
      yield* scheduler.enqueueDue(1_000)
      const [again] = yield* world.claim()
      assert.deepInclude(again, {
        job: first.job,
        payload: { n: 7 },
        checkpoint: Option.some({ frames: 12 }),
        attempt: 1,
        attemptsMax: 5,
        failures: 1,
        epoch: 2
      })
      assert.deepStrictEqual(again?.startedAt, again?.claimedAt)
      // The lease of the failed run stays lost.
      assert.strictEqual((yield* refusal(scheduler.settle(claimed!)))._tag, "LeaseLost")
      const late = scheduler.checkpoint({ ...claimed!, checkpoint: null })
      assert.strictEqual((yield* refusal(late))._tag, "LeaseLost")
      yield* scheduler.settle(again!)
      assert.deepStrictEqual(yield* scheduler.find([first.job]), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("ends a run once, whether it is retried or settled, and stays running if the unit fails", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const { job } = yield* scheduler.enqueue(world.job())
      const [claimed] = yield* world.claim()
      yield* Effect.flip(atomically(Effect.andThen(retry(claimed!, "1 second"), Effect.fail("no"))))
      assert.strictEqual(yield* stateOf(job), "running")
      const settle = Effect.map(Effect.result(scheduler.settle(claimed!)), Result.isSuccess)
      const again = Effect.map(retry(claimed!, "1 second"), (saved) => "promoted" in saved)
      const ended = yield* Effect.all([again, settle, again, settle], { concurrency: 4 })
      assert.strictEqual(ended.filter((isEnd) => isEnd).length, 1)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers the test of full queues. */
export const placedRetryTests = (test: Register): void => {
  test("places a failed job also while the queue is full, and counts it like one that has not started", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const failed = yield* scheduler.enqueue(world.job())
      const [claimed] = yield* world.claim()
      yield* retry(claimed!, 0)
      const [ahead] = [yield* scheduler.enqueue(world.job())]
      yield* Effect.forEach(Array.from({ length: 20 }), () => scheduler.enqueue(world.job()))
      yield* scheduler.enqueueDue(1_000)
      assert.strictEqual(yield* stateOf(failed.job), "pending")
      yield* scheduler.setCap({ ...world, cap: 30 })
      // 21 jobs are ahead of it.
      const others = yield* world.claim({ limit: 21 })
      assert.notInclude(ids(others), failed.job)
      for (const job of others) yield* scheduler.settle(job)
      assert.include(ids(others), ahead.job)
      yield* scheduler.enqueue(world.job({ lane: `${world.lane}-other` }))
      // No job of its lane is ahead now, so it is served before the newer job of another lane.
      assert.deepStrictEqual(ids(yield* world.claim({ limit: 1 })), [failed.job])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Delays a failed job in a unit of its own, and returns the jobs that got a slot. */
const retry = Effect.fnUntraced(function*(job: ClaimedJob, delay: Duration.Input) {
  const scheduler = yield* Scheduler
  const { atomically } = yield* UnitOfWork
  return yield* atomically(Effect.gen(function*() {
    const decided = Lanes.retry(yield* scheduler.load({ jobs: [job] }), { ...job, delay })
    if (Result.isFailure(decided)) return decided.failure
    return yield* scheduler.save(decided.success.state)
  }))
})
