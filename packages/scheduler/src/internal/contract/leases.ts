/** Tests of leases. */
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import * as JobKind from "../../JobKind.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, refusal, takeLease } from "./world.ts"

/** Registers tests of jobs under a lease. */
export const leaseTests = (test: Register): void => {
  test("settles a job once, and only under its epoch", () =>
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

  test("ignores the writes of a worker whose lease was rescued", () =>
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
          scheduler.release([lost!])
        ])
      assert.deepStrictEqual(yield* attempts(), ["LeaseLost", "LeaseLost", undefined])
      const [taker] = yield* world.claim()
      assert.deepStrictEqual(yield* attempts(), ["LeaseLost", "LeaseLost", undefined])

      assert.deepStrictEqual(
        [taker!.epoch, taker!.attempt, taker!.checkpoint, taker!.startedAt],
        [2, 2, Option.some({ step: 1 }), lost!.startedAt]
      )
      assert.strictEqual((yield* scheduler.settle(taker!)).job, lost!.job)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("leaves the jobs of a worker that renews its lease, and takes over those of one that does not", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
      const [kept, left] = [yield* takeLease(), yield* takeLease()]
      const [first] = yield* world.claim({ lease: kept, limit: 1 })
      const [second] = yield* world.claim({ lease: left, limit: 1 })
      yield* TestClock.adjust("20 seconds")
      assert.isTrue(yield* scheduler.renewLease({ lease: kept, kinds: [], ttl: "30 seconds" }))
      // A job that is claimed later is under the same lease.
      const [third] = yield* world.claim({ lease: kept, limit: 1 })
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [second!.job])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [first!.job, third!.job])
    }))
}

/** Registers tests of leases that do not hold any more. */
export const rescueTests = (test: Register): void => {
  test("takes over jobs under the lease of the rescuer that it does not hold, if it names those that it holds", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const commands = yield* Effect.forEach(
        [1, 2, 3],
        () => scheduler.enqueue(world.job({ cap: 3, attemptsMax: 2 }))
      )
      const lease = yield* takeLease()
      const [held, lost, other] = [
        ...yield* world.claim({ lease, limit: 2 }),
        ...yield* world.claim()
      ]
      assert.deepStrictEqual(ids([held!, lost!, other!]), ids(commands))
      assert.deepStrictEqual(yield* world.rescue({ lease }), { requeued: [], exhausted: [] })
      assert.deepStrictEqual(yield* world.rescue({ lease, held: ids([held!, lost!]) }), {
        requeued: [],
        exhausted: []
      })
      assert.deepStrictEqual(ids((yield* world.rescue({ lease, held: [held!.job] })).requeued), [lost!.job])
      assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
      assert.strictEqual((yield* scheduler.settle(held!)).state, "running")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("never renews a lease that has expired, and claims and rescues nothing under it", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* scheduler.enqueue(world.job({ cap: 2 }))
      yield* scheduler.enqueue(world.job({ cap: 2 }))
      const lease = yield* takeLease()
      const [lost] = yield* world.claim({ lease, limit: 1 })
      yield* TestClock.adjust("30 seconds")
      const dead = () =>
        Effect.all([
          scheduler.renewLease({ lease, kinds: [], ttl: "30 seconds" }),
          world.claim({ lease }),
          world.rescue({ lease })
        ])
      const nothing = [false, [], { requeued: [], exhausted: [] }] as const
      assert.deepStrictEqual<unknown>(yield* dead(), nothing)
      assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [lost!.job])
      assert.deepStrictEqual<unknown>(yield* dead(), nothing)
    }))

  test("takes over the jobs of an earlier lease of a worker, and of a lease that was returned, at once", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 2 })))
      const earlier = yield* takeLease("1 hour", world.lane)
      const [first] = yield* world.claim({ lease: earlier, limit: 1 })
      const later = yield* takeLease("1 hour", world.lane)
      assert.isFalse(yield* scheduler.renewLease({ lease: earlier, kinds: [], ttl: "1 hour" }))
      assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [first!.job])
      const [again, second] = yield* world.claim({ lease: later })
      yield* scheduler.returnLease(later)
      assert.deepStrictEqual(ids((yield* world.rescue()).requeued), [again!.job, second!.job])
    }))
}

/** Registers tests of jobs whose attempts, time or leases have ended. */
export const endedLeaseTests = (test: Register): void => {
  test("takes over all jobs after all leases were ended", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* scheduler.enqueue(world.job({ cap: 2 }))
      yield* scheduler.enqueue(world.job({ cap: 2, attemptsMax: 1 }))
      const [lost, last] = yield* world.claim({ ttl: "1 hour" })
      yield* scheduler.checkpoint({ ...lost!, checkpoint: { step: 1 } })
      assert.isAtLeast(yield* scheduler.endLeases, 2)

      const { exhausted, requeued } = yield* world.rescue()
      assert.deepStrictEqual(ids(requeued), [lost!.job])
      assert.deepStrictEqual(ids(exhausted), [last!.job])
      assert.strictEqual((yield* scheduler.settle(exhausted[0]!)).job, last!.job)
      const [taker] = yield* world.claim()
      assert.deepStrictEqual([taker!.epoch, taker!.attempt, taker!.checkpoint], [2, 2, Option.some({ step: 1 })])
      assert.strictEqual((yield* refusal(scheduler.settle(lost!)))._tag, "LeaseLost")
    }))

  test("leases a job without attempts left to its rescuer only", () =>
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

  test("leases a started job to its rescuer when its time limit passes while it waits for its next worker", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const gpu = JobKind.pool(world.kind, "gpu")
      const limits = { kind: gpu, cap: 3, timeLimit: "1 minute" } as const
      yield* Effect.forEach(
        [limits, { ...limits, timeLimit: undefined }, limits],
        (options) => scheduler.enqueue(world.job(options))
      )
      const [late, unlimited] = yield* world.claim({ kinds: [gpu.name], limit: 2 })
      yield* scheduler.release([late!, unlimited!])
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* world.rescue(), { requeued: [], exhausted: [] })
      yield* TestClock.adjust("1 second")
      // The others have no time limit, and have not started.
      const { exhausted, requeued } = yield* world.rescue()
      assert.deepStrictEqual([ids(requeued), ids(exhausted)], [[], [late!.job]])
      assert.strictEqual((yield* scheduler.settle(exhausted[0]!)).job, late!.job)
    }))
}
