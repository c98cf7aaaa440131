/** Tests of jobs that are enqueued under a lease, and ended, one at a time. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { Scheduler } from "../../Scheduler.ts"
import { SchedulerStore } from "../../SchedulerStore.ts"
import { changesOf } from "../laneChanges.ts"
import type { NewJob } from "../loadedLanes.ts"
import * as Loaded from "../loadedLanes.ts"
import type { Enqueue } from "../requests.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld, stateOf, takeLease } from "./world.ts"

/** The row of a job as a decision to queue it returns it. */
export const rowOf = ({ group, job, kind, lane, payload }: Enqueue<{ readonly n: number }>): NewJob => ({
  job,
  lane,
  group,
  kind: kind.name,
  payload,
  state: "queued",
  epoch: 0,
  priority: 0,
  attemptsMax: 3,
  timeLimit: undefined,
  checkpoint: Option.none(),
  failures: 0,
  uniqueKey: undefined
})

/** Registers tests of jobs that a worker has from the beginning. */
export const leasedJobTests = (test: Register): void => {
  test("enqueues a job under the lease of a worker if a slot is free, and changes nothing otherwise", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { enqueueLeased } = yield* SchedulerStore
      const world = yield* makeWorld
      const terms = { lease: yield* takeLease("1 minute"), worker: "test" }
      const gone = { lease: yield* takeLease("1 second"), worker: "test" }
      yield* TestClock.adjust("1 second")
      const lane = { cap: 2, weight: 1 }
      assert.isUndefined(yield* enqueueLeased(rowOf(world.job()), lane, terms))
      yield* scheduler.setCap({ ...world, cap: 2 })
      for (const other of [{ cap: 3, weight: 1 }, { cap: 2, weight: 2 }]) {
        assert.isUndefined(yield* enqueueLeased(rowOf(world.job()), other, terms))
      }
      assert.isUndefined(yield* enqueueLeased(rowOf(world.job()), lane, gone))
      const delayed = world.job({ cap: 2 })
      yield* scheduler.enqueue({ ...delayed, delay: "1 hour" })
      assert.isUndefined(yield* enqueueLeased(rowOf(delayed), lane, terms))
      const [first, second] = [world.job(), world.job()]
      const leased = yield* enqueueLeased(rowOf(first), lane, terms)
      const place = { job: first.job, lane: world.lane, group: world.group, kind: world.kind.name }
      assert.deepInclude(leased, { ...place, attempt: 1, epoch: 1, attemptsMax: 3 })
      assert.deepInclude(yield* enqueueLeased(rowOf(second), lane, terms), { job: second.job })
      assert.isUndefined(yield* enqueueLeased(rowOf(world.job()), lane, terms))
      const states = yield* scheduler.find([first.job, second.job, delayed.job])
      assert.deepStrictEqual(states.map(({ state }) => state).toSorted(), ["delayed", "running", "running"])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("enqueues no job beside those that wait for a slot", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { enqueueLeased } = yield* SchedulerStore
      const world = yield* makeWorld
      const terms = { lease: yield* takeLease("1 minute"), worker: "test" }
      const jobs = yield* Effect.forEach([1, 2], () => scheduler.enqueue(world.job({ cap: 1 })))
      assert.isUndefined(yield* enqueueLeased(rowOf(world.job()), { cap: 1, weight: 1 }, terms))
      assert.deepStrictEqual((yield* scheduler.find(ids(jobs))).map(({ state }) => state).toSorted(), [
        "pending",
        "queued"
      ])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("leases the job of a slot that a unit enqueues, if the lease holds", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { apply, load } = yield* SchedulerStore
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const lease = yield* takeLease("1 minute")
      const enqueue = Effect.fnUntraced(function*(job: NewJob, lease: string) {
        const { group, lane } = world
        const state = yield* load({ groups: [group], lanes: [{ lane, group, isCreated: true }], jobs: [], keys: [] })
        const loaded = Loaded.setCap(Loaded.fromState(state, { attemptsMax: 3, waitingMax: 20 }), { lane, cap: 5 })
        const counted = Loaded.laneById(loaded, lane)
        const lanes = Loaded.setLane(Loaded.addJob(loaded, job), counted, Loaded.count(counted, "queued", 1))
        return (yield* apply(changesOf(lanes), { lease, worker: "test", job: job.job }))?.handed
      }, atomically)
      const [first, second] = [world.job(), world.job()]
      assert.deepInclude(yield* enqueue(rowOf(first), lease), { job: first.job, attempt: 1, epoch: 1 })
      assert.isUndefined(yield* enqueue(rowOf(second), "gone"))
      assert.deepStrictEqual([yield* stateOf(first.job), yield* stateOf(second.job)], ["running", "queued"])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers the test of jobs that end without a unit. */
export const endedJobTests = (test: Register): void => {
  test("ends a job under its lease if no job of its lane waits or is queued, and changes nothing otherwise", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { end } = yield* SchedulerStore
      const world = yield* makeWorld
      const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 2 })))
      const [running] = yield* world.claim({ limit: 1 })
      assert.isFalse(yield* end(running!), "a job waits for the slot")
      yield* scheduler.cancel(jobs[2]!.job)
      assert.isFalse(yield* end(running!), "a job is queued")
      const [other] = yield* world.claim()
      assert.isFalse(yield* end({ ...running!, epoch: running!.epoch + 1 }), "another lease")
      assert.isFalse(yield* end({ ...running!, lane: `${world.lane}-other` }), "another lane")
      assert.isTrue(yield* end(running!))
      assert.isFalse(yield* end(running!), "it has ended")
      assert.deepStrictEqual(yield* scheduler.verify, [])
      assert.isTrue(yield* end(other!))
      assert.deepStrictEqual(yield* scheduler.find(ids(jobs)), [])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}
