import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option, Scheduler } from "effect"
import { TestClock } from "effect/testing"
import { suite } from "../src/testing.ts"
import { layerMemory, MemoryBackend, UnitOfWork } from "../src/UnitOfWork.ts"
import * as Cells from "./Cells.ts"

suite("memory", Cells.layerMemory.pipe(Layer.provideMerge(layerMemory)))

it.effect("commits or rolls back completely at every point of interruption", () =>
  Effect.gen(function*() {
    const { afterCommit, atomically } = yield* UnitOfWork
    const memory = yield* MemoryBackend
    const cells = memory.makeMap<"a" | "b", number>()
    const step = (key: "a" | "b") => memory.access(() => cells.set(key, (cells.get(key) ?? 0) + 1))
    let told = 0
    const unit = atomically(Effect.gen(function*() {
      yield* step("a")
      yield* afterCommit(Effect.sync(() => {
        told++
      }))
      yield* step("b")
    }))
    // The fibers yield every few operations, so that an interruption meets them nearly everywhere.
    const meetings = [3, 4, 5].flatMap((ops) => Array.from({ length: 100 }, (_, yields) => ({ ops, yields })))
    let interrupted = 0
    for (const { ops, yields } of meetings) {
      // Two units, so that one waits for the other.
      const fibers = yield* Effect.forEach([1, 2], () =>
        unit.pipe(
          Effect.provideService(Scheduler.MaxOpsBeforeYield, ops),
          Effect.forkChild({ startImmediately: true })
        ))
      for (let n = 0; n < yields; n++) yield* Effect.yieldNow
      for (const fiber of fibers.toReversed()) {
        yield* Fiber.interrupt(fiber)
        if (Exit.isFailure(yield* Fiber.await(fiber))) interrupted++
      }
      const next = yield* Effect.timeoutOption(atomically(Effect.void), "1 second").pipe(TestClock.withLive)
      assert.isTrue(Option.isSome(next), `the lock is lost after ${yields} yields every ${ops} operations`)
    }
    assert.strictEqual(cells.get("a"), cells.get("b"))
    assert.strictEqual(told, cells.get("a"))
    assert.isAbove(interrupted, 0)
    assert.isBelow(interrupted, 2 * meetings.length)
  }).pipe(Effect.provide(layerMemory)))

it.effect("isolates calls outside of units, wherever the fibers yield", () =>
  Effect.gen(function*() {
    const { atomically } = yield* UnitOfWork
    const memory = yield* MemoryBackend
    const cells = memory.makeMap<"draft" | "count", number>()
    const unit = memory.access(() => cells.set("draft", 1)).pipe(
      Effect.andThen(Effect.yieldNow),
      Effect.andThen(Effect.fail("no")),
      atomically,
      Effect.ignore
    )
    const outside = memory.access(() => {
      cells.set("count", (cells.get("count") ?? 0) + 1)
      return cells.get("draft")
    })
    for (const ops of [3, 4, 5, 6, 7]) {
      const fibers = yield* Effect.forEach([unit, outside, outside], (effect) =>
        Effect.replicateEffect(effect, 100).pipe(
          Effect.provideService(Scheduler.MaxOpsBeforeYield, ops),
          Effect.forkChild({ startImmediately: true })
        ))
      const seen = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(new Set(seen.flat()), new Set([undefined]))
    }
    assert.strictEqual(cells.get("count"), 5 * 200)
  }).pipe(Effect.provide(layerMemory)))
