/** Jobs that are ended in one statement, while other units change their lane. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeWorld } from "../src/internal/contract/world.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

layer(over(TestDatabase.postgres))("A job that ends while its lane is locked", (it) => {
  it.effect("gives its place to a job that was queued meanwhile", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const scheduler = yield* Scheduler.Scheduler
      const { atomically } = yield* UnitOfWork.UnitOfWork
      const { claim, job } = yield* makeWorld
      yield* scheduler.enqueue(job({ cap: 2 }))
      const [running] = yield* claim({ ttl: "1 hour" })
      const [isQueued, end] = [yield* Latch.make(), yield* Latch.make()]
      const queued = job({ cap: 2 })
      const holder = yield* scheduler.enqueue(queued).pipe(
        Effect.andThen(isQueued.open),
        Effect.andThen(end.await),
        atomically,
        Effect.forkChild
      )
      yield* isQueued.await
      const settling = yield* Effect.forkChild(scheduler.settle(running!), { startImmediately: true })
      yield* Effect.repeat(
        sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        { until: (rows) => rows.length > 0 }
      )
      yield* end.open
      yield* Fiber.join(holder)
      yield* Fiber.join(settling)
      const rows = yield* sql`SELECT share, state FROM apart.scheduler_job WHERE id = ${queued.job}::uuid`
      assert.deepStrictEqual(rows, [{ share: 0, state: "queued" }])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(TestClock.withLive))
})
