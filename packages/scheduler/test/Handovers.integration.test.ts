import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch } from "effect"
import { TestClock } from "effect/testing"
import { makeWorld } from "../src/internal/contract/world.ts"
import { over } from "./Fixture.ts"
import { anotherScheduler, start } from "./HandoversContract.ts"

layer(over(TestDatabase.postgres))("Handovers beside locked lanes", (it) => {
  it.effect("take no slot for a job that waits for the lock of its lane", () =>
    Effect.gen(function*() {
      const { job, scheduler, started } = yield* start({ concurrency: 1 })
      const elsewhere = yield* anotherScheduler
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const locked = job()
      yield* scheduler.setCap(locked)
      const [isLocked, end] = [yield* Latch.make(), yield* Latch.make()]
      const holder = yield* scheduler.load({ lanes: [locked] }).pipe(
        Effect.andThen(isLocked.open),
        Effect.andThen(end.await),
        atomically,
        Effect.forkChild
      )
      yield* isLocked.await
      const waiting = yield* Effect.forkChild(elsewhere.enqueue(locked), { startImmediately: true })
      const { group, lane } = yield* makeWorld
      const other = yield* scheduler.enqueue(job({ group, lane }))
      assert.strictEqual((yield* started).job, other.job)
      yield* end.open
      yield* Fiber.join(holder)
      assert.strictEqual((yield* Fiber.join(waiting)).state, "queued")
      assert.strictEqual((yield* started).job, locked.job)
      // Waits for locks are repeated after pauses.
    }).pipe(TestClock.withLive))
})
