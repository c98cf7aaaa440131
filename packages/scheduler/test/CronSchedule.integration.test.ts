import { assert, it } from "@effect/vitest"
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { DateTime, Duration, Effect, Fiber, Latch, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as CronSchedule from "../src/CronSchedule.ts"
import * as JobKind from "../src/JobKind.ts"
import { layerWith, Scheduler } from "../src/Scheduler.ts"
import { SchedulerStore } from "../src/SchedulerStore.ts"
import * as SqlSchedulerStore from "../src/SqlSchedulerStore.ts"
import * as Wakeup from "../src/Wakeup.ts"
import { suite } from "./CronScheduleContract.ts"
import { over } from "./Fixture.ts"

for (const [name, database] of TestDatabase.all) suite(name, over(database))

for (const [name, database] of TestDatabase.all) {
  it.effect(`advances a schedule whose time has microseconds (${name})`, () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { advance, schedules } = yield* SchedulerStore
      yield* schedules(["edited"])
      yield* sql`UPDATE scheduler_schedule SET handled_until = '2026-11-26 12:00:00.000999Z'`
      const { handled: [edited] } = yield* schedules(["edited"])
      const to = DateTime.makeUnsafe("2026-11-26T12:01:00Z")
      assert.isTrue(yield* advance({ name: "edited", from: edited!.handledUntil, to }))
      assert.isFalse(yield* advance({ name: "edited", from: edited!.handledUntil, to }))
      assert.deepStrictEqual((yield* schedules(["edited"])).handled, [{ name: "edited", handledUntil: to }])
    }).pipe(Effect.provide(over(database))))
}

it.effect("enqueues the jobs of other schedules while another unit has locked the group of one", () =>
  Effect.gen(function*() {
    const scheduler = yield* Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const schedules = ["locked", "other"].map(scheduleOf)
    const lane = { lane: "locked", group: "locked" }
    yield* scheduler.setCap({ ...lane, cap: 1 })
    yield* scheduler.enqueueTicks(schedules)
    yield* TestClock.adjust("1 minute")
    const delayed = Effect.map(
      scheduler.lanes({ limit: 100 }),
      (lanes) => lanes.map(({ delayed, lane }) => [lane, delayed])
    )
    const [locked, end] = [Latch.makeUnsafe(), Latch.makeUnsafe()]
    const unit = scheduler.load({ lanes: [lane] }).pipe(
      Effect.andThen(locked.open),
      Effect.andThen(end.await),
      atomically
    )
    const fiber = yield* Effect.forkChild(unit)
    yield* locked.await
    const pause = yield* scheduler.enqueueTicks(schedules)
    assert.strictEqual(Duration.toMillis(pause), 1_000)
    assert.deepStrictEqual(yield* delayed, [["other", 1]])
    yield* end.open
    yield* Fiber.join(fiber)
    yield* scheduler.enqueueTicks(schedules)
    assert.deepStrictEqual(yield* delayed, [["locked", 1], ["other", 1]])
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

const scheduleOf = (name: string) =>
  CronSchedule.make({
    name,
    cron: "* * * * *",
    lane: name,
    group: name,
    cap: 1,
    kind: JobKind.make({ name: "killed", payload: Schema.Null }),
    payload: () => null
  })

/** The next unit that writes jobs loses its session before it does. */
let isKilled = false

const killedStore = Layer.effect(
  SchedulerStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const store = yield* SchedulerStore
    return {
      ...store,
      apply: (changes) =>
        Effect.andThen(
          isKilled ? Effect.ignore(sql`SELECT pg_terminate_backend(pg_backend_pid())`) : Effect.void,
          store.apply(changes)
        )
    } satisfies SchedulerStore["Service"]
  })
).pipe(Layer.provide(SqlSchedulerStore.layer))

const killed = layerWith().pipe(
  Layer.provideMerge(Layer.merge(killedStore, Wakeup.layer)),
  Layer.provideMerge(UnitOfWork.layerSqlWith({ reruns: 0 })),
  Layer.provideMerge(Migrations.layer(SqlSchedulerStore.migrations)),
  Layer.provideMerge(TestDatabase.postgres)
)

it.effect("leaves neither the advance of a schedule nor its job if the session ends in between", () =>
  Effect.gen(function*() {
    const scheduler = yield* Scheduler
    const { schedules } = yield* SchedulerStore
    const schedule = scheduleOf("killed")
    const jobs = Effect.map(scheduler.queues, (queues) => queues.map(({ delayed, kind }) => [kind, delayed]))
    yield* scheduler.enqueueTicks([schedule])
    yield* TestClock.adjust("1 minute")
    const before = yield* schedules(["killed"])
    isKilled = true
    yield* scheduler.enqueueTicks([schedule])
    isKilled = false
    assert.deepStrictEqual(yield* schedules(["killed"]), before)
    assert.deepStrictEqual(yield* jobs, [])
    yield* scheduler.enqueueTicks([schedule])
    assert.deepStrictEqual(yield* jobs, [["killed", 1]])
    assert.notDeepEqual((yield* schedules(["killed"])).handled, before.handled)
  }).pipe(Effect.provide(killed)))
