import { assert, it, layer } from "@effect/vitest"
import { DatabaseTime, Decision, UnitOfWork } from "@kinora/persistence"
import { QueryPlan, TestDatabase } from "@kinora/testkit"
import { Effect, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ids, makeWorld } from "../src/internal/contract/world.ts"
import { settleAndClaimStatement } from "../src/internal/sql/settleAndClaim.ts"
import * as Lanes from "../src/Lanes.ts"
import * as Scheduler from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"
import { suite } from "./SettleAndClaimContract.ts"

const backlog = 20_000

for (const [name, database] of TestDatabase.all) suite(name, over(database))

it.effect("jobs that end get successors from 20,000 waiting ones by reading few of them", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler.Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const { claim, job, kind } = yield* makeWorld
    const jobs = Array.from({ length: backlog }, (_, n) => job({ cap: 2, lane: `lane-${n % 2}`, waitingMax: backlog }))
    yield* atomically(Effect.gen(function*() {
      const { state } = Decision.all(yield* scheduler.load({ lanes: jobs.slice(0, 2) }), jobs, Lanes.enqueue)
      yield* scheduler.save(state)
    }))
    const kinds = [kind.name]
    const lease = yield* scheduler.takeLease({ id: "all", worker: "test", kinds, slots: 4, ttl: "1 hour" })
    const running = yield* claim()
    const terms = { lease, worker: "test", kinds, limit: 4 }
    // The planner has never seen the table.
    const steps = yield* QueryPlan.explain(settleAndClaimStatement(sql, running, terms, yield* DatabaseTime.now))
    for (const { rows, table, type } of steps) {
      if (table === "scheduler_job") assert.notStrictEqual(type, "Seq Scan")
      assert.isAtMost(rows, 16)
    }
    const started = yield* scheduler.find(ids(jobs.slice(4, 8)))
    assert.deepStrictEqual(started.map(({ state }) => state), ["running", "running", "running", "running"])
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

layer(over(TestDatabase.postgres))(
  "Jobs that end in one statement, while a unit has locked one of their lanes",
  (it) => {
    it.effect("are left if they are in that lane, and the others end without waiting", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler.Scheduler
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const { claim, job } = yield* makeWorld
        const locked = job()
        const free = job({ lane: `${locked.lane}-free`, group: `${locked.group}-free` })
        for (const command of [locked, free]) yield* scheduler.enqueue(command)
        const running = yield* claim({ ttl: "1 hour" })
        const terms = { lease: "gone", worker: "test", kinds: [], limit: 0 }
        const isHeld = yield* Latch.make()
        const isDone = yield* Latch.make()
        yield* scheduler.load({ lanes: [locked] }).pipe(
          Effect.andThen(isHeld.open),
          Effect.andThen(isDone.await),
          atomically,
          Effect.forkChild
        )
        yield* isHeld.await
        const { left } = yield* scheduler.settleAndClaim(running, terms)
        yield* isDone.open
        assert.deepStrictEqual(left, [locked.job])
        assert.deepStrictEqual(ids(yield* scheduler.find([locked.job, free.job])), [locked.job])
      }).pipe(TestClock.withLive))
  }
)
