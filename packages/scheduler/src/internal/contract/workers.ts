/** Tests of workers. */
import { assert } from "@effect/vitest"
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import { Clock, DateTime, Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import * as JobKind from "../../JobKind.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, takeLease } from "./world.ts"

/** Registers tests of attempts. */
export const attemptTests = (test: Register): void => {
  test("claims the last attempt of a job alone and after a pause", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const { job } = yield* scheduler.enqueue(world.job({ cap: 2 }))
      const other = yield* scheduler.enqueue(world.job({ cap: 2 }))
      const lose = Effect.fnUntraced(function*(options: { readonly alone?: boolean } = {}) {
        const [lost] = yield* world.claim({ limit: 1, ttl: "8 seconds", ...options })
        yield* TestClock.adjust("8 seconds")
        return [lost!.job, lost!.attempt, yield* world.rescue()] as const
      })
      for (const attempt of [1, 2]) {
        assert.deepStrictEqual((yield* lose()).slice(0, 2), [job, attempt])
      }
      const due = (isIdle: boolean, id = "z") => scheduler.isAloneDue({ id, isIdle, kinds: [world.kind.name] })
      assert.deepStrictEqual(ids(yield* world.claim()), [other.job])
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual([yield* due(true), yield* world.claim({ alone: true })], [false, []])
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* due(true))
      // A worker with jobs makes room for it, unless another one with a lower id does.
      assert.isTrue(yield* due(false))
      const offer = { worker: "test", kinds: [world.kind.name], slots: 1, ttl: "30 seconds" } as const
      const leader = yield* scheduler.takeLease({ ...offer, id: `${world.lane}-leader` })
      assert.deepStrictEqual([yield* due(false), yield* due(true), yield* due(false, world.lane)], [
        false,
        true,
        true
      ])
      yield* scheduler.returnLease(leader)

      // A worker that stops returns it as a job that runs alone.
      const [released] = yield* world.claim({ alone: true })
      assert.deepStrictEqual([released!.job, released!.attempt], [job, 3])
      yield* scheduler.release([released!])
      assert.deepStrictEqual(yield* world.claim(), [])
      const [, attempt, { exhausted }] = yield* lose({ alone: true })
      assert.deepStrictEqual([attempt, ids(exhausted)], [3, [job]])
      assert.isFalse(yield* due(true))
    }))

  test("queues a released job before all others, without counting the attempt", () =>
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
}

/** Registers tests of checkpoints, and of workers with other clocks. */
export const checkpointTests = (test: Register): void => {
  test("stores the last of several checkpoints of the newest epoch", () =>
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

  test("leaves a job to its worker, whatever the clocks of the workers show", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const kind = JobKind.pool(world.kind, "gpu")
      yield* scheduler.enqueue(world.job({ kind, timeLimit: "1 minute" }))
      const clock = yield* Clock.Clock
      const on = (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        effect.pipe(
          Effect.provideService(DatabaseTime.DatabaseClock, clock),
          Effect.provideService(Clock.Clock, skewed(clock, millis))
        )
      for (const skew of [120_000, -120_000]) {
        const other = on(skew)
        const own = on(-skew)
        const lease = yield* own(takeLease("8 seconds"))
        const [job] = yield* own(world.claim({ lease, kinds: [kind.name] }))
        assert.deepStrictEqual([job!.startedAt, job!.claimedAt], [yield* DateTime.now, yield* DateTime.now])
        for (let beats = 0; beats < 3; beats++) {
          // The moment before the lease expires.
          yield* TestClock.adjust(7_999)
          assert.deepStrictEqual(yield* other(world.rescue()), { requeued: [], exhausted: [] })
          assert.isTrue(yield* own(scheduler.renewLease({ lease, kinds: [], ttl: "8 seconds" })))
        }
        yield* own(scheduler.settle(job!))
        const waiting = yield* scheduler.enqueue(world.job({ kind, timeLimit: "1 minute" }))
        assert.notInclude(ids(yield* other(scheduler.waiting("1 second", 1_000))), waiting.job)
      }
    }))
}

/** Registers tests of drains and of lists. */
export const workerTests = (test: Register): void => {
  test("asks a worker to drain while its lease holds, also under its next lease, until it is asked to resume", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [id, other] = [`${world.lane}-a`, `${world.lane}-b`]
      const [first, kept] = [yield* takeLease("30 seconds", id), yield* takeLease("30 seconds", other)]
      assert.isFalse(yield* scheduler.isDrained(first))
      assert.isFalse(yield* scheduler.drain(`${id}-unknown`))
      assert.deepStrictEqual([yield* scheduler.drain(id), yield* scheduler.drain(id)], [true, true])
      assert.deepStrictEqual([yield* scheduler.isDrained(first), yield* scheduler.isDrained(kept)], [true, false])
      const next = yield* takeLease("30 seconds", id)
      assert.deepStrictEqual([yield* scheduler.isDrained(first), yield* scheduler.isDrained(next)], [false, true])
      assert.isFalse(yield* scheduler.resume(`${id}-unknown`))
      assert.deepStrictEqual([yield* scheduler.resume(id), yield* scheduler.resume(other)], [true, true])
      assert.deepStrictEqual([yield* scheduler.isDrained(next), yield* scheduler.isDrained(kept)], [false, false])
      yield* TestClock.adjust("30 seconds")
      assert.isFalse(yield* scheduler.drain(other))
      assert.isFalse(yield* scheduler.resume(other))
    }))

  test("lists the workers whose lease holds, and the lanes that have jobs, page by page", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const startedAt = yield* DateTime.now
      const offer = { worker: "test", slots: 4, kinds: [world.kind.name], ttl: "30 seconds" } as const
      const [a, b, c] = ["a", "b", "c"].map((name) => `${world.lane}-${name}`)
      const leases = yield* Effect.forEach([a!, b!, c!], (id) => scheduler.takeLease({ ...offer, id }))
      for (const lane of [c!, a!, a!, b!]) yield* scheduler.enqueue(world.job({ lane, group: `${lane}-group` }))
      yield* scheduler.enqueue(world.job({ lane: b!, group: `${b!}-group`, cap: 0 }))
      yield* world.claim({ lease: leases[0]!, limit: 2 })

      yield* TestClock.adjust("10 seconds")
      // The second worker drains, and the third one is lost, and starts again.
      yield* scheduler.renewLease({ lease: leases[1]!, kinds: [], ttl: "30 seconds" })
      yield* scheduler.takeLease({ ...offer, id: c! })
      const until = DateTime.add(startedAt, { seconds: 40 })
      const worker = { worker: "test", slots: 4, kinds: [world.kind.name], startedAt: Option.some(startedAt) }
      const workers = [
        { ...worker, id: a!, until: DateTime.add(startedAt, { seconds: 30 }), running: 2, isDraining: false },
        { ...worker, id: b!, kinds: [], until, running: 0, isDraining: true },
        { ...worker, id: c!, until, running: 0, isDraining: false }
      ]
      const own = (after: string, limit: number) => scheduler.workers({ after, limit })
      assert.deepStrictEqual(yield* own(world.lane, 2), workers.slice(0, 2))
      assert.deepStrictEqual(yield* own(a!, 2), workers.slice(1))
      assert.deepStrictEqual((yield* scheduler.workers({ limit: 1_000 })).filter(({ id }) => id === b), [workers[1]!])

      const lane = (lane: string, counts: readonly [number, number, number], cap = 1) => {
        const [pending, queued, running] = counts
        return { lane, group: `${lane}-group`, cap, weight: 1, pending, queued, running, delayed: 0 }
      }
      const lanes = [lane(a!, [1, 0, 1]), lane(b!, [1, 1, 0], 0), lane(c!, [0, 0, 1])]
      assert.deepStrictEqual(yield* scheduler.lanes({ after: world.lane, limit: 2 }), lanes.slice(0, 2))
      assert.deepStrictEqual(yield* scheduler.lanes({ after: b, limit: 1 }), lanes.slice(2))
      assert.deepStrictEqual(yield* scheduler.lanes({ group: `${b}-group`, limit: 2 }), lanes.slice(1, 2))
      assert.deepStrictEqual(yield* scheduler.lanes({ group: `${b}-group`, after: b, limit: 2 }), [])

      // An expired lease does not count as a worker.
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual((yield* own(world.lane, 2)).map(({ id }) => id), [b, c])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A clock that is ahead of another one. */
const skewed = (clock: Clock.Clock, millis: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})
