import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import * as Deadlines from "../src/Deadlines.ts"

const late = Effect.succeed("late" as const)

describe("Deadlines", () => {
  it.effect("returns what an effect returns or fails with before its deadline", () =>
    Effect.gen(function*() {
      const { within } = yield* Deadlines.make("1 second")
      assert.strictEqual(yield* within(Effect.succeed(1), late), 1)
      assert.strictEqual(yield* Effect.flip(within(Effect.fail("broken"), late)), "broken")
      const mayEnd = yield* Latch.make()
      const fiber = yield* Effect.forkChild(within(Effect.as(mayEnd.await, 2), late))
      yield* TestClock.adjust("999 millis")
      yield* mayEnd.open
      assert.strictEqual(yield* Fiber.join(fiber), 2)
    }))

  it.effect("interrupts an effect at its deadline, and continues when it has ended", () =>
    Effect.gen(function*() {
      const { within } = yield* Deadlines.make("1 second")
      const mayEnd = yield* Latch.make()
      const isInterrupted = yield* Deferred.make<void>()
      const slow = Effect.never.pipe(
        Effect.onInterrupt(() => Effect.andThen(Deferred.succeed(isInterrupted, undefined), mayEnd.await))
      )
      const fiber = yield* Effect.forkChild(within(slow, late))
      yield* TestClock.adjust("1 second")
      yield* Deferred.await(isInterrupted)
      assert.isUndefined(fiber.pollUnsafe())
      yield* mayEnd.open
      assert.strictEqual(yield* Fiber.join(fiber), "late")
    }))

  it.effect("counts from the start of each effect", () =>
    Effect.gen(function*() {
      const { within } = yield* Deadlines.make("1 second")
      const first = yield* Effect.forkChild(within(Effect.never, late))
      yield* TestClock.adjust("600 millis")
      const second = yield* Effect.forkChild(within(Effect.never, late))
      yield* TestClock.adjust("400 millis")
      assert.strictEqual(yield* Fiber.join(first), "late")
      yield* TestClock.adjust("599 millis")
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* Fiber.join(second), "late")
      // The timer starts again after it had nothing to watch.
      yield* TestClock.adjust("1 minute")
      const third = yield* Effect.forkChild(within(Effect.never, late))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(third), "late")
    }))

  it.effect("does not interrupt an effect that may not be stopped", () =>
    Effect.gen(function*() {
      const { within } = yield* Deadlines.make("1 second")
      const mayEnd = yield* Latch.make()
      const fiber = yield* Effect.forkChild(within(Effect.as(mayEnd.await, "done" as const), late, () => false))
      yield* TestClock.adjust("2 seconds")
      yield* mayEnd.open
      assert.strictEqual(yield* Fiber.join(fiber), "done")
    }))

  it.effect("keeps its timer after a defect", () =>
    Effect.gen(function*() {
      const { within } = yield* Deadlines.make("1 second")
      const broken = () => {
        throw new Error("broken")
      }
      yield* Effect.forkChild(within(Effect.never, late, broken))
      const fiber = yield* Effect.forkChild(within(Effect.never, late))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(fiber), "late")
    }))

  it.effect("interrupts an effect with its caller, and waits for its end", () =>
    Effect.gen(function*() {
      const { within } = yield* Deadlines.make("1 second")
      let hasEnded = false
      const slow = Effect.never.pipe(
        Effect.onInterrupt(() =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => {
              hasEnded = true
            })
          )
        )
      )
      const fiber = yield* Effect.forkChild(within(slow, late), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.isTrue(hasEnded)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
    }))
})
