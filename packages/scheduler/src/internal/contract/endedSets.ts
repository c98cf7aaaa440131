/** Tests of jobs that end in one statement, and of the jobs that get their slots. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, stateOf, takeLease } from "./world.ts"

/** Registers tests of jobs that are leased in the slots of others. */
export const endedSetTests = (test: Register): void => {
  test("ends jobs, and leases those that get their slots, in the order of a claim", () =>
    Effect.gen(function*() {
      const { claim, refill, scheduler, world } = yield* makeLeased
      const jobs = yield* Effect.forEach([0, 0, 0, 1, 0], (priority) =>
        scheduler.enqueue(world.job({ cap: 2, priority })))
      const running = yield* claim(2)
      const { claimed, left } = yield* refill(running, 2)
      assert.deepStrictEqual(left, [])
      assert.deepStrictEqual(ids(claimed), [jobs[2]!.job, jobs[3]!.job])
      assert.deepStrictEqual(claimed.map(({ attempt, epoch }) => [attempt, epoch]), [[1, 1], [1, 1]])
      assert.deepStrictEqual(yield* scheduler.find(ids(running)), [])
      assert.strictEqual(yield* stateOf(jobs[4]!.job), "pending")
      assert.deepStrictEqual(yield* scheduler.verify, [])
      assert.deepStrictEqual(ids((yield* refill(claimed, 0)).claimed), [])
      assert.strictEqual(yield* stateOf(jobs[4]!.job), "queued")
    }))

  test("leases no job if others of the kinds are queued, which come first", () =>
    Effect.gen(function*() {
      const { claim, refill, scheduler, world } = yield* makeLeased
      const jobs = yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job()))
      const running = yield* claim(1)
      const other = yield* scheduler.enqueue(world.job({ lane: `${world.lane}-other` }))
      const { claimed, left } = yield* refill(running, 1)
      assert.deepStrictEqual([left, claimed], [[], []])
      assert.deepStrictEqual(ids(yield* claim(2)), [other.job, jobs[1]!.job])
    }))

  test("leases no job under a lease that has expired, and none of other kinds", () =>
    Effect.gen(function*() {
      const { claim, refill, scheduler, world } = yield* makeLeased
      const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job()))
      const [first] = yield* claim(1)
      const gone = yield* takeLease("1 second")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual((yield* refill([first!], 1, { lease: gone })).claimed, [])
      const [second] = yield* claim(1)
      assert.deepStrictEqual(second?.job, jobs[1]!.job)
      assert.deepStrictEqual((yield* refill([second!], 1, { kinds: ["other"] })).claimed, [])
      assert.strictEqual(yield* stateOf(jobs[2]!.job), "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("leaves jobs whose lease does not hold, and changes nothing for them", () =>
    Effect.gen(function*() {
      const { claim, refill, scheduler, world } = yield* makeLeased
      const [, waiting] = yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job()))
      const [running] = yield* claim(1)
      const stale = { ...running!, epoch: running!.epoch + 1 }
      assert.deepStrictEqual((yield* refill([stale], 1)).left, [running!.job])
      assert.strictEqual(yield* stateOf(running!.job), "running")
      assert.strictEqual(yield* stateOf(waiting!.job), "pending")
      yield* scheduler.settle(running!)
      assert.deepStrictEqual((yield* refill([running!], 1)).left, [running!.job])
      assert.deepStrictEqual(ids(yield* claim(1)), [waiting!.job])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A worker that claims the kind of the world. */
const makeLeased = Effect.gen(function*() {
  const scheduler = yield* Scheduler
  const world = yield* makeWorld
  const kinds = [world.kind.name]
  const lease = yield* scheduler.takeLease({ id: world.lane, worker: "test", kinds, slots: 8, ttl: "1 hour" })
  const terms = { lease, worker: "test", kinds }
  return {
    scheduler,
    world,
    claim: (limit: number) => scheduler.claim({ ...terms, limit }),
    refill: (
      ended: Parameters<typeof scheduler.settleAndClaim>[0],
      limit: number,
      changed: Partial<typeof terms> = {}
    ) => scheduler.settleAndClaim(ended, { ...terms, ...changed, limit })
  }
})
