/** Tests of the order in which jobs are claimed. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld } from "./world.ts"

/** Registers tests of kinds and weights. */
export const shareTests = (test: Register): void => {
  test("claims jobs by kind, up to the limit, the oldest slot first", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const [world, other] = [yield* makeWorld, yield* makeWorld]
      yield* scheduler.enqueue(other.job())
      const jobs = yield* Effect.forEach([1, 2, 3], () => scheduler.enqueue(world.job({ cap: 3 })))
      assert.deepStrictEqual(ids(yield* world.claim({ limit: 2 })), ids(jobs.slice(0, 2)))
      assert.deepStrictEqual(ids(yield* world.claim({ limit: 2 })), ids(jobs.slice(2)))
      assert.deepStrictEqual(yield* world.claim(), [])
      assert.deepStrictEqual(yield* world.claim({ kinds: [] }), [])
    }))

  test("serves the lane with the fewest running jobs per weight first, also within one claim", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const enqueue = (name: string, weight: number) =>
        scheduler.enqueue(world.job({ lane: `${world.lane}-${name}`, cap: 4, weight }))
      const laneOf = ({ lane }: { readonly lane: string }) => lane.slice(world.lane.length + 1)
      for (const [name, weight] of [["a", 1], ["a", 1], ["a", 1], ["a", 1]] as const) yield* enqueue(name, weight)
      for (const name of ["b", "b", "b", "b"]) yield* enqueue(name, 2)
      yield* enqueue("c", 1)
      const first = yield* world.claim({ limit: 6 })
      assert.deepStrictEqual(first.map(laneOf), ["a", "b", "c", "b", "a", "b"])
      // After that, only one job of "a" is running.
      yield* scheduler.settle(first[0]!)
      yield* enqueue("d", 1)
      yield* enqueue("d", 1)
      assert.deepStrictEqual((yield* world.claim()).map(laneOf), ["d", "a", "d", "b", "a"])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))

  test("applies a new weight to the jobs that are queued", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const laneOf = ({ lane }: { readonly lane: string }) => lane.slice(world.lane.length + 1)
      for (const name of ["a", "a", "a", "a", "b", "b"]) {
        yield* scheduler.enqueue(world.job({ lane: `${world.lane}-${name}`, cap: 4 }))
      }
      const lane = { lane: `${world.lane}-a`, group: world.group }
      yield* scheduler.setCap({ ...lane, cap: 4, weight: 2 })
      assert.deepStrictEqual((yield* world.claim({ limit: 3 })).map(laneOf), ["a", "b", "a"])
      // Keeps the weight.
      yield* scheduler.setCap({ ...lane, cap: 5 })
      assert.deepStrictEqual((yield* world.claim({ limit: 2 })).map(laneOf), ["a", "b"])
      yield* scheduler.enqueue(world.job({ ...lane, cap: 5, weight: 4 }))
      assert.deepStrictEqual((yield* world.claim()).map(laneOf), ["a", "a"])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers tests of claims at the same time. */
export const concurrentShareTests = (test: Register): void => {
  test("keeps claims of several workers at the same time fair together", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const lanes = [0, 1, 2, 3, 4].map((n) => `${world.lane}-${n}`)
      for (const lane of lanes) {
        yield* Effect.forEach([1, 2, 3, 4], () => scheduler.enqueue(world.job({ lane, cap: 4 })))
      }
      const claims = yield* Effect.forEach([1, 2, 3, 4], () => world.claim({ limit: 2 }), { concurrency: 4 })
      const counts = lanes.map((lane) => claims.flat().filter((job) => job.lane === lane).length)
      assert.strictEqual(claims.flat().length, 8)
      assert.deepStrictEqual(counts, [2, 2, 2, 1, 1])
    }))

  test("leaves the jobs of some groups to other claims", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const [a, b] = yield* Effect.forEach(["a", "b"], (name) =>
        scheduler.enqueue(world.job({ lane: `${world.lane}-${name}`, group: `${world.group}-${name}` })))
      assert.deepStrictEqual(ids(yield* world.claim({ except: [a!.group] })), ids([b!]))
      assert.deepStrictEqual(ids(yield* world.claim()), ids([a!]))
    }))
}

/** Registers the test of a group with many jobs. */
export const crowdedGroupTests = (test: Register): void => {
  test("claims the only job of one group after at most the slots of another group with 1,000 jobs", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const slots = 4
      const crowd = Array.from({ length: 1_000 }, () => world.job({ cap: slots, waitingMax: 1_000 }))
      yield* Effect.forEach(crowd, scheduler.enqueue, { concurrency: "unbounded", discard: true })
      const alone = world.job({ lane: `${world.lane}-alone`, group: `${world.group}-alone` })
      yield* scheduler.enqueue(alone)

      const order: Array<string> = []
      while (!order.includes(alone.job)) {
        const [job] = yield* world.claim({ limit: 1 })
        order.push(job!.job)
        // A job that ends frees its slot for the next one of its lane.
        if (order.length % 2 === 0) yield* scheduler.settle(job!)
      }
      assert.isAtMost(order.length, slots + 1)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}
