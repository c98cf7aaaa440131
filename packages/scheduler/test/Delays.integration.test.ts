import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { Scheduler } from "../src/Scheduler.ts"
import { makeWorld, over, stateOf } from "./Fixture.ts"

it.effect("places due jobs while a long unit locks the lane of earlier ones", () =>
  Effect.gen(function*() {
    const scheduler = yield* Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const world = yield* makeWorld
    const [locked, end] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
    const first = yield* scheduler.enqueue({ ...world.job(), delay: "1 second" })
    const other = { lane: `${world.lane}-other`, group: `${world.group}-other` }
    const second = yield* scheduler.enqueue({ ...world.job(other), delay: "2 seconds" })
    yield* TestClock.adjust("2 seconds")
    const unit = scheduler.load({ lanes: [world] }).pipe(
      Effect.andThen(locked.open),
      Effect.andThen(end.await),
      atomically
    )
    const fiber = yield* Effect.forkChild(unit)
    yield* locked.await
    // A set has room for the first job only.
    assert.strictEqual(yield* scheduler.enqueueDue(1), 1)
    assert.deepStrictEqual(yield* Effect.forEach([first.job, second.job], stateOf), ["delayed", "queued"])
    assert.strictEqual(yield* scheduler.enqueueDue(1), 0)
    yield* end.open
    yield* Fiber.join(fiber)
    assert.strictEqual(yield* scheduler.enqueueDue(1), 1)
    assert.strictEqual(yield* stateOf(first.job), "queued")
    assert.deepStrictEqual(yield* scheduler.verify, [])
  }).pipe(Effect.provide(over(TestDatabase.postgres))))
