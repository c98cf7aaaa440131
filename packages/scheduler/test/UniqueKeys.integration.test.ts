import { assert, it } from "@effect/vitest"
import { Decision, UnitOfWork } from "@kinora/persistence"
import { QueryPlan, TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch, Result } from "effect"
import { SqlClient } from "effect/sql"
import { makeWorld, refusal } from "../src/internal/contract/world.ts"
import { holdersStatement } from "../src/internal/sql/lanes.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

const unique = { key: "reindex" }

for (const commits of [true, false]) {
  it.effect(`waits for another unit that enqueues the key and ${commits ? "commits" : "rolls back"}`, () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const world = yield* makeWorld
      const sql = yield* SqlClient.SqlClient
      const [enqueued, end] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
      const first = world.job({ unique })
      const unit = Effect.andThen(scheduler.enqueue(first), enqueued.open).pipe(
        Effect.andThen(end.await),
        Effect.andThen(commits ? Effect.void : Effect.fail("stop" as const)),
        atomically
      )
      const fiber = yield* Effect.forkChild(Effect.exit(unit))
      yield* enqueued.await
      const second = world.job({ unique, lane: `${world.lane}-other` })
      const waiting = yield* Effect.forkChild(Effect.result(scheduler.enqueue(second)))
      yield* Effect.repeat(
        sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        { until: (sessions) => sessions.length > 0 }
      )
      yield* end.open
      yield* Fiber.join(fiber)
      const result = yield* Fiber.join(waiting)
      assert.strictEqual(Result.isFailure(result), commits)
      const holder = commits ? first.job : second.job
      assert.deepInclude(yield* refusal(scheduler.enqueue(world.job({ unique }))), { job: holder })
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(Effect.provide(over(TestDatabase.postgres))))
}

for (const delay of [undefined, "1 hour"] as const) {
  it.effect(`fails a transaction whose snapshot is older than the holder of the key (${delay ?? "no delay"})`, () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const world = yield* makeWorld
      const sql = yield* SqlClient.SqlClient
      const [first, second] = [world.job({ unique }), world.job({ unique, lane: `${world.lane}-other` })]
      for (const lane of [first, second]) yield* scheduler.setCap({ ...lane, cap: 1 })
      const [read, enqueued] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
      const unit = sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`.pipe(
        Effect.andThen(sql`SELECT FROM scheduler_group`),
        Effect.andThen(read.open),
        Effect.andThen(enqueued.await),
        Effect.andThen(scheduler.enqueue({ ...second, delay })),
        atomically
      )
      const fiber = yield* Effect.forkChild(Effect.flip(unit))
      yield* read.await
      yield* scheduler.enqueue({ ...first, delay: delay === undefined ? "1 hour" : undefined })
      yield* enqueued.open
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "StorageError", isRetryable: true })
      assert.deepStrictEqual((yield* scheduler.find([first.job, second.job])).map(({ job }) => job), [first.job])
    }).pipe(Effect.provide(over(TestDatabase.postgres))))
}

it.effect("reads the holder of a key from an index, whatever jobs there are", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const world = yield* makeWorld
    const jobs = Array.from({ length: 2_000 }, (_, n) => world.job({ cap: 2_000, unique: { key: `key-${n}` } }))
    yield* atomically(Effect.gen(function*() {
      const lanes = yield* scheduler.load({ lanes: jobs })
      const queued = Decision.all(lanes, jobs.slice(1_000), Lanes.enqueue)
      const delayed = Decision.all(
        queued.state,
        jobs.slice(0, 1_000),
        (lanes, job) => Lanes.delay(lanes, { ...job, delay: "1 hour" })
      )
      yield* scheduler.save(delayed.state)
    }))
    const keys = [3, 1_004, 9_999].map((n) => ({ group: world.group, key: `key-${n}` }))
    const steps = yield* QueryPlan.explain(holdersStatement(sql, keys))
    assert.sameMembers(steps.flatMap(({ index }) => index ?? []), [
      "scheduler_job_by_unique_key",
      "scheduler_delayed_by_unique_key"
    ])
    for (const { rows, type } of steps) {
      assert.notStrictEqual(type, "Seq Scan")
      assert.isAtMost(rows, 3)
    }
  }).pipe(Effect.provide(over(TestDatabase.postgres))))
