import { assert, it, layer } from "@effect/vitest"
import { DatabaseTime, Decision, Pipelining, Rows, UnitOfWork } from "@kinora/persistence"
import { QueryPlan, TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Queue, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeWorld, takeLease } from "../src/internal/contract/world.ts"
import * as Claims from "../src/internal/sql/claims.ts"
import * as JobHandler from "../src/JobHandler.ts"
import * as JobKind from "../src/JobKind.ts"
import * as Lanes from "../src/Lanes.ts"
import { Scheduler } from "../src/Scheduler.ts"
import { suite } from "../src/testing.ts"
import { suite as crowd } from "./CrowdContract.ts"
import { suite as delays } from "./DelaysContract.ts"
import { over, startWorker } from "./Fixture.ts"
import { suite as handovers } from "./HandoversContract.ts"
import { suite as leases } from "./LeasesContract.ts"
import { startsJobsOfOthers } from "./NotificationsStory.ts"
import { suite as priorities } from "./PrioritiesContract.ts"
import { suite as retries } from "./RetriesContract.ts"
import { suite as scheduler } from "./SchedulerContract.ts"
import { suite as shares } from "./SharesContract.ts"
import { suite as uniqueKeys } from "./UniqueKeysContract.ts"
import { suite as wakeups } from "./WakeupsContract.ts"

const pipelined = ["Postgres, pipelined", TestDatabase.postgresWith(Pipelining.over)] as const

for (const [name, database] of [...TestDatabase.all, pipelined]) {
  suite(name, over(database))
  scheduler(name, over(database))
  handovers(name, over(database))
  leases(name, over(database))
  delays(name, over(database))
  priorities(name, over(database))
  retries(name, over(database))
  shares(name, over(database))
  uniqueKeys(name, over(database))
  wakeups(name, over(database))

  layer(over(database))(`Worker (${name})`, (it) => {
    it.effect("runs all jobs of several lanes", () =>
      Effect.gen(function*() {
        const scheduler = yield* Scheduler
        const world = yield* makeWorld
        const ran = yield* Queue.unbounded<number>()
        const handler = JobHandler.make({
          kind: world.kind,
          run: ({ payload }) => Queue.offer(ran, payload.n),
          failed: () => Effect.succeed(false)
        })
        const numbers = Array.from({ length: 200 }, (_, n) => n)
        yield* Effect.scoped(Effect.gen(function*() {
          yield* startWorker({ name: "worker", handlers: [handler], concurrency: 16 })
          yield* Effect.forEach(numbers, (n) =>
            scheduler.enqueue(
              world.job({ lane: `${world.lane}-${n % 3}`, cap: 5, waitingMax: 1_000, payload: { n } })
            ), { concurrency: 50, discard: true })
          const seen = yield* Effect.forEach(numbers, () => Queue.take(ran))
          assert.sameMembers(seen, numbers)
        }))
        assert.deepStrictEqual(yield* world.claim(), [])
        assert.deepStrictEqual(yield* scheduler.verify, [])
      }))
  })
}

crowd("Postgres", over(TestDatabase.postgres), 4_000)
// PGlite runs the same statements on one connection, so its transactions never overlap. What overlaps on Postgres cannot
// here: the turns only cover every kind.
crowd("PGlite", over(TestDatabase.pglite), 1_000)

it.effect("starts jobs of other processes with layerPostgres on PGlite", () =>
  Effect.gen(function*() {
    const client = Layer.succeedContext(yield* Layer.build(TestDatabase.pglite))
    yield* startsJobsOfOthers(client, client)
  }).pipe(Effect.scoped, TestClock.withLive))

const backlog = 20_000

it.effect("claims without reading the jobs that wait for a slot", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const world = yield* makeWorld
    yield* atomically(Effect.gen(function*() {
      const jobs = Array.from({ length: backlog }, () => world.job({ waitingMax: backlog }))
      const { state } = Decision.all(yield* scheduler.load({ lanes: [world] }), jobs, Lanes.enqueue)
      yield* scheduler.save(state)
    }))
    yield* Effect.forEach([1, 2, 3], (n) => scheduler.enqueue(world.job({ lane: `free-${n}`, waitingMax: backlog })))

    // The planner has never seen the table: its worst day.
    const terms = {
      lease: yield* takeLease(),
      worker: "test",
      kinds: [world.kind.name],
      resumableKinds: [],
      limit: 100,
      alone: false,
      except: []
    }
    const steps = yield* QueryPlan.explain(Claims.claimStatement(sql, terms, yield* DatabaseTime.now, sql`TRUE`))
    const indexes = steps.flatMap(({ index }) => index ?? [])
    assert.sameMembers(indexes, [
      "scheduler_job_by_share",
      "scheduler_job_pkey",
      "scheduler_job_pkey",
      "scheduler_worker_lease",
      // Whether any job has a priority.
      "scheduler_job_ahead"
    ])
    for (const { rows, type } of steps) {
      assert.notStrictEqual(type, "Seq Scan")
      assert.isAtMost(rows, 4)
    }
    assert.strictEqual((yield* scheduler.verify).length, 0)
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("claims without reading the jobs of other kinds", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const world = yield* makeWorld
    const kindOf = (pool: string) => JobKind.pool(world.kind, pool)
    yield* atomically(Effect.gen(function*() {
      const jobs = Array.from({ length: backlog }, () => world.job({ kind: kindOf("busy"), cap: backlog }))
      const { state } = Decision.all(yield* scheduler.load({ lanes: [world] }), jobs, Lanes.enqueue)
      yield* scheduler.save(state)
    }))
    yield* Effect.forEach(["a", "b", "a", "busy", "c"], (pool) =>
      scheduler.enqueue(world.job({ lane: `free-${pool}`, cap: 2, kind: kindOf(pool) })))
    const terms = {
      lease: yield* takeLease(),
      worker: "test",
      kinds: ["a", "b", "c"].map((pool) =>
        kindOf(pool).name
      ),
      resumableKinds: [kindOf("busy").name],
      limit: 3,
      alone: false,
      except: []
    }
    const steps = yield* QueryPlan.explain(Claims.claimStatement(sql, terms, yield* DatabaseTime.now, sql`TRUE`))
    for (const { rows, type } of steps) {
      assert.notStrictEqual(type, "Seq Scan")
      assert.isAtMost(rows, 4)
    }
    // The job beyond the limit was not locked.
    const locks = steps.filter(({ type }) => type === "LockRows")
    assert.deepStrictEqual(locks.map(({ rows }) => rows), [3])
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("claims without reading the other lanes with queued jobs", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const world = yield* makeWorld
    yield* atomically(Effect.gen(function*() {
      const jobs = Array.from({ length: 5_000 }, (_, n) => world.job({ cap: 2, lane: `${world.lane}-${n % 2_500}` }))
      const { state } = Decision.all(yield* scheduler.load({ lanes: jobs }), jobs, Lanes.enqueue)
      yield* scheduler.save(state)
    }))
    const terms = {
      lease: yield* takeLease(),
      worker: "test",
      kinds: [world.kind.name],
      resumableKinds: [],
      limit: 10,
      alone: false,
      except: []
    }
    const steps = yield* QueryPlan.explain(Claims.claimStatement(sql, terms, yield* DatabaseTime.now, sql`TRUE`))
    for (const { rows, type } of steps) {
      assert.notStrictEqual(type, "Seq Scan")
      assert.isAtMost(rows, 11)
    }
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("updates the counters of lanes without touching their indexes", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler
    const { atomically } = yield* UnitOfWork.UnitOfWork
    const world = yield* makeWorld
    const jobs = Array.from({ length: 400 }, (_, n) => world.job({ lane: `${world.lane}-${n}` }))
    yield* atomically(Effect.gen(function*() {
      const { state } = Decision.all(yield* scheduler.load({ lanes: jobs }), jobs, Lanes.enqueue)
      yield* scheduler.save(state)
    }))
    // A page is pruned when it is read, unless a transaction of any database on this server is older than the dead rows. A
    // vacuum waits for transactions of its own database only.
    yield* sql`VACUUM scheduler_lane`
    const countUpdates = decodeUpdates(sql`
      SELECT
        pg_stat_get_xact_tuples_updated('scheduler_lane'::regclass)::int4 AS updated,
        pg_stat_get_xact_tuples_hot_updated('scheduler_lane'::regclass)::int4 AS "inPlace"
    `)
    yield* atomically(Effect.gen(function*() {
      const [before] = yield* countUpdates
      const some = jobs.filter((_, n) => n % 4 === 0)
      const { state } = Decision.all(yield* scheduler.load({ jobs: some }), some.map(({ job }) => job), Lanes.cancel)
      yield* scheduler.save(state)
      const [after] = yield* countUpdates
      assert.strictEqual(after!.updated - before!.updated, some.length)
      assert.isAtLeast(after!.inPlace - before!.inPlace, 0.9 * some.length)
    }))
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

const decodeUpdates = Rows.decodeAll(Schema.Struct({ updated: Schema.Int, inPlace: Schema.Int }))
