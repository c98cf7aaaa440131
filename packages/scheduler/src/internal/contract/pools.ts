/** Tests of the kinds and pools that a worker serves. */
import { assert } from "@effect/vitest"
import { DateTime, Duration, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import * as JobKind from "../../JobKind.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, stateOf } from "./world.ts"

/** Registers tests of pools. */
export const poolTests = (test: Register): void => {
  test("leaves the jobs of a pool queued until a worker that serves the pool claims them", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const gpu = JobKind.pool(world.kind, "gpu")
      const [pooled, any] = yield* Effect.forEach(
        [gpu, world.kind],
        (kind) => scheduler.enqueue(world.job({ kind, cap: 2 }))
      )
      assert.deepStrictEqual(ids(yield* world.claim()), ids([any!]))
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [`${world.kind.name}:cpu`] })), [])
      assert.strictEqual(yield* stateOf(pooled!.job), "queued")
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [world.kind.name, gpu.name] })), ids([pooled!]))
    }))

  test("claims the jobs of several pools in the order in which they got their slots", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const kinds = ["a", "b", "c"].map((pool) => JobKind.pool(world.kind, pool))
      const jobs = yield* Effect.forEach(
        [2, 0, 1, 0, 2, 1],
        (index) => scheduler.enqueue(world.job({ kind: kinds[index]!, cap: 6 }))
      )
      const names = [kinds[2]!.name, kinds[0]!.name]
      const [first, second, , fourth, fifth] = jobs
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: names, limit: 3 })), ids([first!, second!, fourth!]))
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: names })), ids([fifth!]))
    }))

  test("moves a released job to a pool", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* scheduler.enqueue(world.job())
      const [claimed] = yield* world.claim()
      yield* scheduler.release([{ ...claimed!, pool: "gpu" }])
      assert.deepStrictEqual(yield* world.claim(), [])
      const [again] = yield* world.claim({ kinds: [`${world.kind.name}:gpu`] })
      assert.deepStrictEqual([again!.job, again!.attempt], [claimed!.job, 1])
      // A pool replaces the pool.
      yield* scheduler.release([{ ...again!, pool: "cpu" }])
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [`${world.kind.name}:cpu`] })), [claimed!.job])
    }))

  test("rescues the jobs of all pools of a kind", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const gpu = JobKind.pool(world.kind, "gpu")
      const lost = yield* scheduler.enqueue(world.job({ kind: gpu, cap: 2 }))
      const last = yield* scheduler.enqueue(world.job({ kind: gpu, cap: 2, attemptsMax: 1 }))
      yield* world.claim({ kinds: [gpu.name] })
      yield* TestClock.adjust("30 seconds")
      const { exhausted, requeued } = yield* world.rescue()
      assert.deepStrictEqual([ids(requeued), ids(exhausted)], [[lost.job], [last.job]])
      // It is still a job of the pool.
      assert.deepStrictEqual(yield* world.claim(), [])
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [gpu.name] })), [lost.job])
    }))
}

/** Registers the test of resumable jobs. */
export const resumableTests = (test: Register): void => {
  test("claims resumable jobs of the kinds that the worker has no room for, in the order of the queue", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [full, free] = [JobKind.pool(world.kind, "full"), JobKind.pool(world.kind, "free")]
      const kinds = [full, free, full, full, free]
      const jobs = yield* Effect.forEach(kinds, (kind) => scheduler.enqueue(world.job({ cap: 5, kind })))
      const claimed = yield* world.claim({ kinds: [full.name, free.name], limit: 3 })
      yield* scheduler.checkpoint({ ...claimed[0]!, checkpoint: "kept" })
      yield* scheduler.checkpoint({ ...claimed[1]!, checkpoint: "kept" })
      yield* scheduler.checkpoint({ ...claimed[2]!, checkpoint: "kept", resumable: true })
      yield* scheduler.release(claimed)
      const selected = { kinds: [free.name], resumableKinds: [full.name, free.name] }
      const again = yield* world.claim({ ...selected, limit: 2 })
      assert.deepStrictEqual(ids(again), ids([jobs[1]!, jobs[2]!]))
      assert.deepStrictEqual(again[1]!.checkpoint, Option.some("kept"))
      // A checkpoint sets again whether the job is resumable.
      yield* scheduler.checkpoint({ ...again[1]!, checkpoint: "kept" })
      yield* scheduler.release(again)
      assert.deepStrictEqual(ids(yield* world.claim({ kinds: [], resumableKinds: [full.name] })), [])
      assert.deepStrictEqual(ids(yield* world.claim(selected)), ids([jobs[1]!, jobs[4]!]))
    }))
}

/** Registers the test of the numbers of each kind and pool. */
export const queueTests = (test: Register): void => {
  test("counts the jobs and the workers of each kind and pool", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [gpu, idle] = ["gpu", "idle"].map((pool) => JobKind.pool(world.kind, pool).name)
      const kind = JobKind.pool(world.kind, "gpu")
      const oldest = yield* DateTime.now
      yield* scheduler.enqueue(world.job({ kind, cap: 3 }))
      yield* TestClock.adjust("1 second")
      yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ kind, cap: 3 })))
      yield* scheduler.enqueue(world.job({ lane: `${world.lane}-2`, cap: 1 }))
      yield* world.claim()
      const offer = { worker: "test", slots: 4, ttl: "30 seconds" } as const
      const first = yield* scheduler.takeLease({ ...offer, id: `${world.lane}-a`, kinds: [world.kind.name, gpu!] })
      yield* scheduler.takeLease({ ...offer, id: `${world.lane}-b`, kinds: [gpu!, idle!], slots: 2 })

      const own = Effect.map(
        scheduler.queues,
        (queues) => queues.filter(({ kind }) => kind.split(":")[0] === world.kind.name)
      )
      const none = { pending: 0, queued: 0, running: 0, delayed: 0, oldest: Option.none(), oldestWait: Option.none() }
      const jobs = { ...none, pending: 1, queued: 3, oldest: Option.some(oldest) }
      const waited = (seconds: number) => ({ oldestWait: Option.some(Duration.seconds(seconds)) })
      assert.deepStrictEqual(yield* own, [
        { ...none, kind: world.kind.name, running: 1, workers: 1, slots: 4 },
        { ...jobs, ...waited(1), kind: gpu!, workers: 2, slots: 6 },
        { ...none, kind: idle!, workers: 1, slots: 2 }
      ])

      // A worker that is renewed stays, one that is lost leaves at its expiry, and one that stops leaves at once.
      yield* TestClock.adjust("20 seconds")
      const offers = (yield* scheduler.offers).filter(({ id }) => id.startsWith(world.lane))
      assert.sameDeepMembers(offers.map(({ id, kinds }) => [id, kinds]), [
        [`${world.lane}-a`, [world.kind.name, gpu!]],
        [`${world.lane}-b`, [gpu!, idle!]]
      ])
      yield* scheduler.renewLease({ lease: first, kinds: [gpu!], ttl: "30 seconds" })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* own, [
        { ...none, kind: world.kind.name, running: 1, workers: 0, slots: 0 },
        { ...jobs, ...waited(31), kind: gpu!, workers: 1, slots: 4 }
      ])
      // A worker that drains claims nothing, so it offers nothing.
      yield* scheduler.renewLease({ lease: first, kinds: [], ttl: "30 seconds" })
      assert.deepStrictEqual((yield* own).map(({ workers }) => workers), [0, 0])
      assert.deepStrictEqual((yield* scheduler.offers).filter(({ id }) => id.startsWith(world.lane)), [])
    }))
}
