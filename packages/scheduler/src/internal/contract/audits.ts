/** Tests of counters that are compared with the jobs. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import { SchedulerStore } from "../../SchedulerStore.ts"
import { noChanges } from "../laneChanges.ts"
import type { LaneCounters } from "../loadedLanes.ts"
import type { Register } from "./tests.ts"
import { makeWorld, stateOf } from "./world.ts"

/** Registers the tests. */
export const auditTests = (test: Register): void => {
  test("verify reports a lane that holds more slots than its cap, unless its cap was lowered", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const store = yield* SchedulerStore
      const { atomically } = yield* UnitOfWork
      const { group, job, lane } = yield* makeWorld
      yield* Effect.forEach([1, 2], () => scheduler.enqueue(job({ cap: 2 })))
      yield* scheduler.setCap({ lane, group, cap: 1 })
      assert.deepStrictEqual(yield* scheduler.verify, [])
      const lowered = { lane, group, cap: 1, held: 2, waiting: 0, heldMax: 2, weight: 1 }
      const change = { before: lowered, after: { ...lowered, heldMax: 1 } }
      yield* atomically(Effect.gen(function*() {
        yield* store.apply({ ...noChanges, lanes: [change] })
      }))
      assert.deepStrictEqual(yield* scheduler.verify, [
        { of: "lane", id: lane, counter: "heldMax", stored: 1, found: 2 }
      ])
      yield* scheduler.rebuild
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("verify finds wrong counters, and rebuild corrects them", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const store = yield* SchedulerStore
      const { atomically } = yield* UnitOfWork
      const { group, job, lane } = yield* makeWorld
      const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(job({ cap: 2 })))
      let stored = { lane, group, cap: 2, held: 2, waiting: 1, heldMax: 2, weight: 1 }
      let storedWaiting = 1
      const write = (counters: Partial<LaneCounters>, waiting: number) =>
        atomically(Effect.gen(function*() {
          const after = { lane, group, cap: 2, held: 2, waiting: 1, heldMax: 2, weight: 1, ...counters }
          yield* store.apply({
            ...noChanges,
            groups: [{ before: { group, waiting: storedWaiting }, after: { group, waiting } }],
            lanes: [{ before: stored, after }]
          })
          stored = after
          storedWaiting = waiting
        }))

      yield* write({ held: 5, waiting: 0 }, 7)
      assert.deepStrictEqual(yield* scheduler.verify, [
        { of: "group", id: group, counter: "waiting", stored: 7, found: 1 },
        { of: "lane", id: lane, counter: "held", stored: 5, found: 2 },
        { of: "lane", id: lane, counter: "waiting", stored: 0, found: 1 }
      ])
      yield* scheduler.rebuild
      assert.deepStrictEqual(yield* scheduler.verify, [])
      assert.strictEqual(yield* stateOf(jobs[2]!.job), "pending")

      // A job waited although a slot was free, since a counter was wrong.
      stored = { lane, group, cap: 2, held: 2, waiting: 1, heldMax: 2, weight: 1 }
      storedWaiting = 1
      yield* write({ cap: 3, held: 3, heldMax: 3 }, 1)
      yield* scheduler.rebuild
      assert.strictEqual(yield* stateOf(jobs[2]!.job), "queued")
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}
