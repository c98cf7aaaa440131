import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ids, makeWorld, stateOf } from "../src/internal/contract/world.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

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

for (const [name, database] of TestDatabase.all) {
  it.effect(`places a delayed job after another one with its id has ended (${name})`, () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const sql = yield* SqlClient.SqlClient
      const world = yield* makeWorld
      const running = yield* scheduler.enqueue(world.job({ lane: `${world.lane}-other` }))
      const delayed = yield* scheduler.enqueue({ ...world.job(), delay: "1 second" })
      const behind = yield* scheduler.enqueue({ ...world.job(), delay: "2 seconds" })
      // As two units that insert one id at the same time do, and a host of an earlier build.
      yield* sql`UPDATE scheduler_delayed SET id = ${running.job} WHERE id = ${delayed.job}`
      const [claimed] = yield* world.claim()
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* scheduler.enqueueDue(10), 2)
      assert.strictEqual(yield* stateOf(behind.job), "queued")
      const both = yield* scheduler.find([running.job])
      assert.sameMembers(both.map(({ state }) => state), ["running", "delayed"])
      yield* scheduler.settle(claimed!)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* scheduler.enqueueDue(10), 1)
      assert.strictEqual(yield* stateOf(running.job), "pending")
      yield* Effect.forEach(ids([behind, running]), scheduler.cancel)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(Effect.provide(over(database))))
}
