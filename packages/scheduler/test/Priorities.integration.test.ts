/** The cost of priorities, and the migration that adds them. */
import { assert, it } from "@effect/vitest"
import { DatabaseTime, Migrations, Rows } from "@kinora/persistence"
import { QueryPlan, TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { inspect } from "node:util"
import { ids, makeWorld, takeLease } from "../src/internal/contract/world.ts"
import * as Claims from "../src/internal/sql/claims.ts"
import { promoteStatement } from "../src/internal/sql/promotions.ts"
import { migrations } from "../src/migrations.ts"
import { layerPostgres, Scheduler } from "../src/Scheduler.ts"
import { over } from "./Fixture.ts"

const backlog = 100_000

/** Inserts jobs of a lane with priorities from 1 to 7, of which every hundredth is of the kind of the world, and one without. */
const insertBacklog = Effect.fnUntraced(
  function*(world: Effect.Success<typeof makeWorld>, state: "queued" | "pending") {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler
    const [plain, other] = [world.job({ waitingMax: backlog }), world.job({ waitingMax: backlog })]
    yield* scheduler.enqueue(plain)
    yield* scheduler.enqueue(other)
    yield* sql`
      INSERT INTO scheduler_job (id, lane_id, group_id, kind, payload, state, attempts_max, enqueued_at, priority)
      SELECT
        gen_random_uuid(), ${world.lane}, ${world.group},
        CASE WHEN n % 100 = 0 THEN ${world.kind.name} ELSE ${`${world.kind.name}:other`} END, '{"n":1}', ${state}, 3, now(),
        1 + (n * 7919) % 7
      FROM generate_series(1, ${backlog}::int4) AS n
    `
    return plain
  }
)

/** Asserts that the steps of a plan read few rows, and the jobs from indexes. */
const assertFlat = (steps: ReadonlyArray<QueryPlan.Step>) => {
  for (const step of steps) {
    if (step.table === "scheduler_job") assert.notStrictEqual(step.type, "Seq Scan")
    assert.isAtMost(step.rows, 20, JSON.stringify(step))
  }
}

it.effect("claims from a lane with 100,000 queued jobs by reading as many as it claims", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const world = yield* makeWorld
    const plain = yield* insertBacklog(world, "queued")
    const kinds = [world.kind.name, `${world.kind.name}:other`]
    const terms = { worker: "test", resumableKinds: [], alone: false, except: [], limit: 4, kinds }
    const now = yield* DatabaseTime.now
    for (const selected of [kinds, kinds.slice(0, 1)]) {
      const lease = yield* takeLease()
      const statement = Claims.exchangingClaimStatement(sql, { ...terms, lease, kinds: selected }, now)
      assertFlat(yield* QueryPlan.explain(statement))
    }
    // Also after the table was analyzed.
    yield* sql`ANALYZE scheduler_job`
    const lease = yield* takeLease()
    assertFlat(yield* QueryPlan.explain(Claims.exchangingClaimStatement(sql, { ...terms, lease }, now)))
    const priorities = yield* decodePriorities(sql`SELECT priority FROM scheduler_job WHERE state = 'running'`)
    assert.deepStrictEqual(priorities.map(({ priority }) => priority), Array.from({ length: 12 }, () => 7))
    assert.notInclude(ids(yield* world.claim()), plain.job)
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("gives a slot to one of 100,000 waiting jobs by reading few of them", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler
    const world = yield* makeWorld
    yield* insertBacklog(world, "pending")
    const kinds = [world.kind.name, `${world.kind.name}:other`]
    yield* scheduler.takeLease({ id: "all", worker: "test", kinds, slots: 1, ttl: "1 hour" })
    const promotions = [{ lane: world.lane, count: 2, ahead: 1, weight: 1, beside: [] }]
    const now = yield* DatabaseTime.now
    assertFlat(yield* QueryPlan.explain(promoteStatement(sql, promotions, now)))
    const priorities = yield* decodePriorities(
      sql`SELECT priority FROM scheduler_job WHERE state = 'queued' AND lane_id = ${world.lane} ORDER BY position`
    )
    assert.deepStrictEqual(priorities.map(({ priority }) => priority), [0, 7, 7])
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("gives a slot to one of 100,000 waiting jobs by reading few of them, while no worker claims jobs", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const scheduler = yield* Scheduler
    const world = yield* makeWorld
    yield* insertBacklog(world, "pending")
    const promotions = [{ lane: world.lane, count: 1, ahead: 1, weight: 1, beside: [] }]
    // Before there is a worker, and while the only one drains.
    assertFlat(yield* QueryPlan.explain(promoteStatement(sql, promotions, yield* DatabaseTime.now)))
    yield* scheduler.takeLease({ id: "drained", worker: "test", kinds: [], slots: 1, ttl: "1 hour" })
    assertFlat(yield* QueryPlan.explain(promoteStatement(sql, promotions, yield* DatabaseTime.now)))
    const priorities = yield* decodePriorities(
      sql`SELECT priority FROM scheduler_job WHERE state = 'queued' AND lane_id = ${world.lane} ORDER BY position`
    )
    assert.deepStrictEqual(priorities.map(({ priority }) => priority), [0, 7, 7])
  }).pipe(Effect.provide(over(TestDatabase.postgres))))

it.effect("keeps the jobs of an earlier schema, its calls, and who may call its function", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const earlier = Object.fromEntries(Object.entries(migrations.migrations).filter(([name]) => name < "0017"))
    yield* Migrations.run([{ ...migrations, migrations: earlier, indexes: {}, replacedIndexes: [] }])
    const [granted, refused] = [`granted_${process.pid}`, `refused_${process.pid}`]
    const signature = "scheduler_add_job(text, json, text, text, int4, text, timestamptz, int4, interval, int4)"
    yield* sql`CREATE ROLE ${sql.literal(granted)}`
    yield* sql`CREATE ROLE ${sql.literal(refused)}`
    yield* sql`REVOKE EXECUTE ON FUNCTION ${sql.literal(signature)} FROM PUBLIC`
    yield* sql`GRANT EXECUTE ON FUNCTION ${sql.literal(signature)} TO ${sql.literal(granted)} WITH GRANT OPTION`
    const add = (job: string, further = "") =>
      sql`SELECT scheduler_add_job('draw', '1', 'lane', 'group', 2, ${job}, to_timestamp(0)${sql.literal(further)})`
    yield* add("before")
    yield* Effect.gen(function*() {
      const scheduler = yield* Scheduler
      const world = yield* makeWorld
      const mayCall = yield* decodeRights(sql`
        SELECT
          has_function_privilege(${granted}, oid, 'EXECUTE WITH GRANT OPTION') AS granted,
          has_function_privilege(${refused}, oid, 'EXECUTE') AS refused
        FROM pg_proc WHERE proname = 'scheduler_add_job'
      `)
      assert.deepStrictEqual(mayCall, [{ granted: true, refused: false }])
      yield* add("after")
      yield* add("urgent", ", priority => 9")
      yield* add("urgent", ", priority => 3")
      const status = (job: string) => Effect.map(scheduler.find([job]), ([found]) => [found?.state, found?.priority])
      assert.deepStrictEqual(yield* status("before"), ["delayed", 0])
      assert.deepStrictEqual(yield* status("urgent"), ["delayed", 9])
      for (const priority of ["-1", "101", "NULL"]) {
        assert.include(
          inspect(yield* Effect.flip(add("other", `, priority => ${priority}`)), { depth: 5 }),
          "The priority of a job is a whole number from 0 to 100"
        )
      }
      yield* scheduler.enqueueDue(10)
      yield* scheduler.setCap({ lane: "lane", group: "group", cap: 10 })
      // A job that a host of an earlier build enqueues.
      const old = world.id()
      yield* sql`
        INSERT INTO scheduler_job (id, lane_id, group_id, epoch, kind, payload, state, share, attempts_max, enqueued_at)
        SELECT ${old}::uuid, 'lane', 'group', 0, 'draw', '1', 'queued', 3, 3, now()
      `
      yield* sql`UPDATE scheduler_lane SET held = held + 1 WHERE id = 'lane'`
      const claimed = yield* Effect.replicateEffect(world.claim({ kinds: ["draw"], limit: 1 }), 4)
      const started = claimed.flatMap(ids)
      assert.strictEqual(started[0], "urgent")
      assert.sameMembers(started, ["urgent", "before", "after", old])
      yield* Effect.forEach(claimed.flat(), scheduler.settle)
      assert.deepStrictEqual(yield* scheduler.verify, [])
    }).pipe(Effect.provide(Layer.fresh(layerPostgres())))
    yield* sql`DROP OWNED BY ${sql.literal(granted)}`
    yield* sql`DROP ROLE ${sql.literal(granted)}`
    yield* sql`DROP ROLE ${sql.literal(refused)}`
  }).pipe(Effect.provide(TestDatabase.postgres)))

const decodePriorities = Rows.decodeAll(Schema.Struct({ priority: Schema.Int }))

const decodeRights = Rows.decodeAll(Schema.Struct({ granted: Schema.Boolean, refused: Schema.Boolean }))
