/** Jobs that are ended in one statement, while other units change their lane. */
import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeWorld } from "../src/internal/contract/world.ts"
import type { ClaimedJob } from "../src/Job.ts"
import * as Lanes from "../src/Lanes.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

layer(over(TestDatabase.postgres))("A job that ends while its lane is locked", (it) => {
  it.effect("gives its place to a job that was queued meanwhile", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const { claim, job } = yield* makeWorld
      yield* scheduler.enqueue(job({ cap: 2 }))
      const [running] = yield* claim({ ttl: "1 hour" })
      const queued = job({ cap: 2 })
      yield* settleDuring(running!, scheduler.enqueue(queued))
      assert.deepStrictEqual(yield* placeOf(queued.job), [{ share: 0, state: "queued" }])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(TestClock.withLive))

  it.effect("gives its place to a job that got the slot of another one meanwhile", () =>
    Effect.gen(function*() {
      const scheduler = yield* Scheduler.Scheduler
      const { claim, job } = yield* makeWorld
      yield* Effect.forEach([1, 2], () => scheduler.enqueue(job({ cap: 2 })))
      const [running, other] = yield* claim({ ttl: "1 hour" })
      const queued = job({ cap: 2 })
      const replace = Effect.gen(function*() {
        const loaded = yield* scheduler.load({ lanes: [queued], jobs: [other!] })
        const settled = yield* Effect.fromResult(Lanes.settle(loaded, other!))
        const enqueued = yield* Effect.fromResult(Lanes.enqueue(settled.state, queued))
        yield* scheduler.save(enqueued.state)
      })
      yield* settleDuring(running!, replace)
      assert.deepStrictEqual(yield* placeOf(queued.job), [{ share: 0, state: "queued" }])
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(TestClock.withLive))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Settles a job while a unit that has changed its lane is open, and commits the unit once the statement waits for it. */
const settleDuring = Effect.fnUntraced(function*<A, E, R>(running: ClaimedJob, change: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const scheduler = yield* Scheduler.Scheduler
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const [isChanged, end] = [yield* Latch.make(), yield* Latch.make()]
  const holder = yield* change.pipe(
    Effect.andThen(isChanged.open),
    Effect.andThen(end.await),
    atomically,
    Effect.forkChild
  )
  yield* isChanged.await
  const settling = yield* Effect.forkChild(scheduler.settle(running), { startImmediately: true })
  yield* Effect.repeat(
    sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    { until: (rows) => rows.length > 0 }
  )
  yield* end.open
  yield* Fiber.join(holder)
  yield* Fiber.join(settling)
})

const placeOf = (job: string) =>
  SqlClient.SqlClient.use((sql) => sql`SELECT share, state FROM apart.scheduler_job WHERE id = ${job}::uuid`)
