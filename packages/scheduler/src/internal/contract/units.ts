/** Tests of loads and saves in units of work. */
import { assert } from "@effect/vitest"
import { UnitDoomed, UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Cause, Effect, Exit, Result } from "effect"
import * as Lanes from "../../Lanes.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Register } from "./tests.ts"
import { ids, makeWorld } from "./world.ts"

/** Registers tests of loads. */
export const unitTests = (test: Register): void => {
  test("dies if a lane is enqueued under another group", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      yield* scheduler.enqueue(world.job())
      const exit = yield* Effect.exit(scheduler.enqueue(world.job({ group: "another" })))
      assert.include(String(exit), "belongs to the group")
    }))

  test("loads lanes only inside a unit of work, and decides only on loaded lanes", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      const outside = yield* Effect.exit(scheduler.load({ lanes: [world] }))
      assert.include(String(outside), "outside of a unit")
      const other = yield* Effect.exit(atomically(
        Effect.map(
          scheduler.load({ lanes: [world] }),
          (lanes) => Lanes.enqueue(lanes, world.job({ lane: "not loaded" }))
        )
      ))
      assert.include(String(other), "was not loaded")
    }))

  test("a unit that recovers from a failed save cannot commit", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      yield* scheduler.enqueue(world.job({ cap: 1 }))
      const [running] = yield* world.claim()
      const added = world.job({ cap: 3 })
      const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
        const lanes = yield* scheduler.load({ lanes: [world], jobs: [running!] })
        yield* scheduler.setCap({ lane: world.lane, group: world.group, cap: 2 })
        const settled = Result.getOrThrow(Lanes.settle(lanes, running!)).state
        const failed = yield* Effect.exit(
          scheduler.save(Result.getOrThrow(Lanes.enqueue(settled, added)).state)
        )
        assert.include(String(failed), "load them again before each save")
      })))
      assert.isTrue(Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof UnitDoomed, String(exit))
      assert.deepStrictEqual(ids(yield* scheduler.find([running!.job, added.job])), [running!.job])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}

/** Registers the test of lanes that are saved twice. */
export const savedTwiceTests = (test: Register): void => {
  test("dies if lanes are saved twice, or after other lanes that were decided from the same state", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork
      const world = yield* makeWorld
      yield* scheduler.enqueue(world.job({ cap: 2 }))
      const [running] = yield* world.claim()
      const enqueue = (lanes: Lanes.Lanes) => Result.getOrThrow(Lanes.enqueue(lanes, world.job({ cap: 2 }))).state
      const settle = (lanes: Lanes.Lanes) => Result.getOrThrow(Lanes.settle(lanes, running!)).state
      const pairs = [
        [enqueue, enqueue],
        [enqueue, settle],
        // The counters of the lane are the same afterwards.
        [(lanes: Lanes.Lanes) => enqueue(settle(lanes)), settle]
      ] as const
      for (const [first, second] of pairs) {
        const exit = yield* Effect.exit(atomically(Effect.gen(function*() {
          const lanes = yield* scheduler.load({ lanes: [world], jobs: [running!] })
          yield* scheduler.save(first(lanes))
          yield* scheduler.save(second(lanes))
        })))
        assert.include(String(exit), "load them again before each save")
      }
      const twice = yield* Effect.exit(atomically(Effect.gen(function*() {
        const lanes = enqueue(yield* scheduler.load({ lanes: [world] }))
        yield* scheduler.save(lanes)
        yield* scheduler.save(lanes)
      })))
      assert.isTrue(Exit.isFailure(twice))
      assert.deepStrictEqual(ids(yield* scheduler.find([running!.job])), [running!.job])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }))
}
