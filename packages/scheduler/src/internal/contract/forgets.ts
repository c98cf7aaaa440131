/** Tests of groups that are forgotten. */
import { assert } from "@effect/vitest"
import * as Decision from "@kinora/persistence/Decision"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import { SchedulerStore } from "../../SchedulerStore.ts"
import type { Register } from "./tests.ts"
import { makeWorld, refusal, stateOf } from "./world.ts"

/** Registers tests of what is deleted and what is left. */
export const forgetTests = (test: Register): void => {
  test("deletes delayed, pending and queued jobs and their lanes in sets, and those of no other group", () =>
    Effect.gen(function*() {
      const { enqueue, find, forget, verify } = yield* Scheduler
      const world = yield* makeWorld
      const other = yield* makeWorld
      const unique = { key: "once" }
      const jobs = [
        ...["a", "a", "a", "b"].map((lane) => world.job({ lane: `${world.lane}-${lane}` })),
        world.job({ unique, lane: `${world.lane}-b` })
      ]
      for (const job of jobs) yield* enqueue(job)
      const delayed = world.job({ lane: `${world.lane}-c` })
      yield* enqueue({ ...delayed, delay: "1 hour" })
      const kept = [other.job(), other.job()]
      for (const job of kept) yield* enqueue(job)
      assert.deepStrictEqual(yield* forget({ group: world.group, limit: 2 }), { jobs: 6, left: 0 })
      assert.deepStrictEqual(yield* find([...jobs, delayed].map(({ job }) => job)), [])
      assert.isFalse(yield* isStored(world.group))
      assert.deepStrictEqual(yield* world.claim(), [])
      assert.deepStrictEqual(yield* Effect.forEach(kept, ({ job }) => stateOf(job)), ["queued", "pending"])
      assert.deepStrictEqual(yield* verify, [])
      assert.deepStrictEqual(yield* forget({ group: world.group }), { jobs: 0, left: 0 })
      // The group can be used again.
      assert.strictEqual((yield* enqueue(world.job({ unique }))).state, "queued")
      assert.isTrue(yield* isStored(world.group))
    }))
}

/** Registers tests of jobs that run, or have run. */
export const forgottenRunTests = (test: Register): void => {
  test("leaves running jobs, which end as ever, and is complete when it is called again", () =>
    Effect.gen(function*() {
      const { enqueue, forget, settle, verify } = yield* Scheduler
      const world = yield* makeWorld
      for (let n = 0; n < 4; n++) yield* enqueue(world.job({ cap: 2 }))
      const [first, second] = yield* world.claim({ limit: 1 })
      assert.isUndefined(second)
      assert.deepStrictEqual(yield* forget({ group: world.group, limit: 1 }), { jobs: 3, left: 1 })
      assert.strictEqual(yield* stateOf(first!.job), "running")
      assert.deepStrictEqual(yield* verify, [])
      yield* settle(first!)
      assert.isTrue(yield* isStored(world.group))
      assert.deepStrictEqual(yield* forget({ group: world.group }), { jobs: 0, left: 0 })
      assert.isFalse(yield* isStored(world.group))
    }))

  test("ends running jobs if they are aborted, whose workers lose the lease", () =>
    Effect.gen(function*() {
      const { enqueue, forget, settle, verify } = yield* Scheduler
      const world = yield* makeWorld
      for (let n = 0; n < 3; n++) yield* enqueue(world.job({ cap: 2 }))
      const [first, second] = yield* world.claim()
      assert.deepStrictEqual(yield* forget({ group: world.group, abort: true, limit: 2 }), { jobs: 3, left: 0 })
      for (const claimed of [first, second]) {
        assert.strictEqual((yield* refusal(settle(claimed!)))._tag, "LeaseLost")
      }
      assert.isFalse(yield* isStored(world.group))
      assert.deepStrictEqual(yield* verify, [])
    }))

  test("ends a job that waits for its next run or its next worker", () =>
    Effect.gen(function*() {
      const { enqueue, find, forget, load, release, save } = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      for (let n = 0; n < 2; n++) yield* enqueue(world.job({ cap: 2 }))
      const [failed, released] = yield* world.claim()
      yield* atomically(Effect.gen(function*() {
        const lanes = yield* load({ jobs: [failed!] })
        return yield* save(Result.getOrThrow(Lanes.retry(lanes, { ...failed!, delay: "1 hour" })).state)
      }))
      yield* release([released!])
      assert.deepStrictEqual(
        yield* Effect.forEach([failed!, released!], ({ job }) => stateOf(job)),
        ["delayed", "queued"]
      )
      assert.deepStrictEqual(yield* forget({ group: world.group }), { jobs: 2, left: 0 })
      assert.deepStrictEqual(yield* find([failed!.job, released!.job]), [])
    }))
}

/** Registers tests of late calls for jobs of a group that was forgotten, in a lane that another group has since then. */
export const lateJobTests = (test: Register): void => {
  test("refuses a late settlement in a lane that another group has since then, and those of others are stored", () =>
    Effect.gen(function*() {
      const { enqueue, forget, load, save, settle, verify } = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const [world, other] = [yield* makeWorld, yield* makeWorld]
      yield* enqueue(world.job())
      const [late] = yield* world.claim()
      yield* forget({ group: world.group, abort: true })
      yield* enqueue(other.job({ lane: world.lane }))
      yield* enqueue(other.job())
      const [same, apart] = yield* other.claim()
      assert.strictEqual((yield* refusal(settle(late!)))._tag, "LeaseLost")
      const jobs = [apart!, late!, same!]
      const settled = yield* atomically(Effect.gen(function*() {
        const { results, state } = Decision.all(yield* load({ jobs }), jobs, Lanes.settle)
        yield* save(state)
        return results.map(Result.isSuccess)
      }))
      assert.deepStrictEqual(settled, [true, false, true])
      assert.deepStrictEqual(yield* verify, [])
    }))

  test("does not load the lane of a late job that another group has since then", () =>
    Effect.gen(function*() {
      const { enqueue, forget, load } = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const [world, other] = [yield* makeWorld, yield* makeWorld]
      const late = yield* enqueue(world.job())
      yield* forget({ group: world.group })
      const { group, job, lane } = yield* enqueue(other.job({ lane: world.lane }))
      const ofLate = yield* atomically(load({ jobs: [late] }))
      assert.throws(() => Lanes.get(ofLate, lane), "was not loaded")
      const ofBoth = yield* atomically(load({ jobs: [late, { group, job, lane }] }))
      assert.strictEqual(Lanes.get(ofBoth, lane).cap, other.job().cap)
    }))
}

/** Registers tests of groups that are forgotten in a unit, and beside others. */
export const concurrentForgetTests = (test: Register): void => {
  test("deletes nothing in a unit that rolls back", () =>
    Effect.gen(function*() {
      const { enqueue, forget, verify } = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const jobs = [world.job(), world.job()]
      for (const job of jobs) yield* enqueue(job)
      const forgotten = yield* Effect.flip(
        atomically(Effect.flatMap(forget({ group: world.group, limit: 1 }), Effect.fail))
      )
      assert.deepStrictEqual(forgotten, { jobs: 2, left: 0 })
      assert.deepStrictEqual(yield* Effect.forEach(jobs, ({ job }) => stateOf(job)), ["queued", "pending"])
      assert.deepStrictEqual(yield* verify, [])
    }))

  test("is consistent while others enqueue, claim, settle and forget", () =>
    Effect.gen(function*() {
      const { enqueue, forget, setCap, settle, verify } = yield* Scheduler
      const world = yield* makeWorld
      const work = (n: number) =>
        Effect.gen(function*() {
          for (let turn = 0; turn < 5; turn++) {
            const lane = `${world.lane}-${(n + turn) % 3}`
            yield* enqueue(world.job({ lane, cap: 2, waitingMax: 1_000 }))
            yield* setCap({ lane: `${world.lane}-new-${n}-${turn}`, group: world.group, cap: 1 })
            for (const claimed of yield* world.claim({ limit: 2 })) yield* settle(claimed)
          }
        })
      yield* Effect.all(
        Array.from({ length: 12 }, (_, n) => n % 3 === 0 ? forget({ group: world.group, limit: 2 }) : work(n)),
        { concurrency: "unbounded", discard: true }
      )
      assert.deepStrictEqual(yield* verify, [])
      assert.strictEqual((yield* forget({ group: world.group, limit: 3 })).left, 0)
      assert.isFalse(yield* isStored(world.group))
      assert.deepStrictEqual(yield* verify, [])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether the group has a row. */
const isStored = Effect.fnUntraced(function*(group: string) {
  const { groupsAfter } = yield* SchedulerStore
  return (yield* groupsAfter("", 100_000)).includes(group)
})
