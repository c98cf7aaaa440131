/** Tests of slots that jobs without a worker give to others. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import * as JobKind from "../../JobKind.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, stateOf } from "./world.ts"

/** Registers tests of swaps. */
export const swapTests = (test: Register): void => {
  test("go to the oldest pending jobs that a worker claims", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { lease, lost, served, world } = yield* makePools
      const enqueue = (kind: typeof lost) => scheduler.enqueue(world.job({ kind, cap: 2 }))
      const [first, second, third] = yield* Effect.forEach([lost, lost, lost], enqueue)
      const [one, two, three] = yield* Effect.forEach([served, served, served], enqueue)
      const swapped = yield* scheduler.swapSlots(all)
      assert.sameMembers(ids(swapped.promoted), ids([one!, two!]))
      assert.sameMembers(ids(swapped.displaced), ids([first!, second!]))
      assert.deepStrictEqual(yield* scheduler.verify, [])
      const claimed = yield* scheduler.claim({ lease, worker: "test", kinds: [served.name], limit: 10 })
      assert.deepStrictEqual(ids(claimed), ids([one!, two!]))

      // A freed slot goes to the next job that the worker claims, and to the others in their old order after it.
      yield* scheduler.settle(claimed[0]!)
      assert.strictEqual(yield* stateOf(three!.job), "queued")
      yield* scheduler.settle(claimed[1]!)
      assert.deepStrictEqual(
        yield* Effect.forEach([first!, second!, third!], ({ job }) => stateOf(job)),
        ["queued", "pending", "pending"]
      )
      assert.deepStrictEqual(yield* scheduler.swapSlots(all), { promoted: [], displaced: [] })
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("return to these jobs, before the jobs behind them, as soon as a worker claims them", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { lease, lost, serve, served, world } = yield* makePools
      const [waiting, running, ...behind] = yield* Effect.forEach(
        [lost, served, served, lost],
        (kind) => scheduler.enqueue(world.job({ kind }))
      )
      yield* scheduler.swapSlots(all)
      const [claimed] = yield* scheduler.claim({ lease, worker: "test", kinds: [served.name], limit: 10 })
      assert.strictEqual(claimed?.job, running!.job)
      yield* serve(lost)
      yield* scheduler.settle(claimed!)
      assert.deepStrictEqual(
        yield* Effect.forEach([waiting!, ...behind], ({ job }) => stateOf(job)),
        ["queued", "pending", "pending"]
      )
    }))

  test("are kept while no worker claims any job of the lane, and by jobs that have started", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { lost, serve, served, world } = yield* makePools
      const started = yield* scheduler.enqueue(world.job({ kind: lost }))
      yield* scheduler.enqueue(world.job({ kind: served }))
      const other = `${world.lane}-other`
      yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ kind: lost, lane: other })))
      const lease = yield* serve(lost)
      const [job] = yield* scheduler.claim({ lease, worker: "test", kinds: [lost.name], limit: 1 })
      assert.strictEqual(job?.job, started.job)
      yield* scheduler.release([job!])
      yield* scheduler.returnLease(lease)
      assert.deepStrictEqual(yield* scheduler.swapSlots(all), { promoted: [], displaced: [] })
      // The lease of the other worker has expired.
      yield* scheduler.cancel(started.job).pipe(Effect.flip)
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(yield* scheduler.swapSlots(all), { promoted: [], displaced: [] })
    }))
}

/** Registers the test of concurrent swaps and of units of work. */
export const concurrentSwapTests = (test: Register): void => {
  test("are exchanged once by sweeps at the same time, and not at all by a unit that fails", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const { lost, served, world } = yield* makePools
      const lanes = Array.from({ length: 8 }, (_, n) => `${world.lane}-${n}`)
      const enqueue = (kind: typeof lost) =>
        Effect.forEach(lanes, (lane) => scheduler.enqueue(world.job({ kind, lane, cap: 2 })))
      const queued = [...yield* enqueue(lost), ...yield* enqueue(lost)]
      const pending = [...yield* enqueue(served), ...yield* enqueue(served)]
      const failed = yield* Effect.exit(atomically(Effect.andThen(scheduler.swapSlots(all), Effect.die("crash"))))
      assert.isTrue(Exit.isFailure(failed))
      assert.strictEqual(yield* stateOf(queued[0]!.job), "queued")

      const sweeps = yield* Effect.all(Array.from({ length: 4 }, () => scheduler.swapSlots(5)), {
        concurrency: "unbounded"
      })
      for (const { promoted } of sweeps) assert.isAtMost(promoted.length, 5)
      const last = yield* scheduler.swapSlots(all)
      const swapped = [...sweeps, last]
      assert.sameMembers(swapped.flatMap(({ promoted }) => ids(promoted)), ids(pending))
      assert.sameMembers(swapped.flatMap(({ displaced }) => ids(displaced)), ids(queued))
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes a world with a kind that a worker claims, and one that no worker claims. */
const makePools = Effect.gen(function*() {
  const { takeLease } = yield* Scheduler
  const world = yield* makeWorld
  const [served, lost] = [JobKind.pool(world.kind, "served"), JobKind.pool(world.kind, "lost")]
  const serve = (kind: { readonly name: string }, ttl = "1 hour" as const) =>
    takeLease({ id: `${kind.name}-worker`, worker: "test", kinds: [kind.name], slots: 1, ttl })
  return { world, served, lost, serve, lease: yield* serve(served) }
})

/** Far more than the swaps of any test, so that the lanes of other tests do not use up the limit. */
const all = 1_000
