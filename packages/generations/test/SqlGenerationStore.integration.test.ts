/** Query plans, rows of earlier releases, and damaged rows. */
import { assert, layer } from "@effect/vitest"
import { DatabaseTime, Migrations } from "@kinora/persistence"
import { QueryPlan, TestDatabase } from "@kinora/testkit"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { GenerationId } from "../src/Generation.ts"
import { Generations } from "../src/Generations.ts"
import { GenerationStore, type SearchSelection, type Selection } from "../src/GenerationStore.ts"
import { GenerationSweep } from "../src/GenerationSweep.ts"
import * as Deletions from "../src/internal/store/generationDeletions.ts"
import { selectPage } from "../src/internal/store/generationPage.ts"
import { selectFound } from "../src/internal/store/generationSearch.ts"
import * as SqlGenerationStore from "../src/SqlGenerationStore.ts"
import { layerSql, openAccount, request } from "./Assembly.ts"

const { migrations, namespace } = SqlGenerationStore.migrations

/** Inserts ended jobs of one account in the format of the first release. One in a thousand has failed. */
const insertMany = (count: number) =>
  SqlClient.SqlClient.use((sql) =>
    sql`
      INSERT INTO generation_job (
        id, account, model, kind, mode, plan, status, prompt, params, cost_credits, refunded, failure, output,
        result_expires_at, created_at, finished_at
      )
      SELECT
        lpad(to_hex(n), 32, '0')::uuid, 'big', 'canvas', 'image', 'text_to_image', 'credits', status, '', '{}', 8,
        status = 'failed', CASE status WHEN 'failed' THEN '{"code": "generation_failed", "message": "", "reason": null}'::jsonb END,
        CASE status WHEN 'completed' THEN '{"content": 4}'::jsonb END,
        CASE status WHEN 'completed' THEN '1970-01-03Z'::timestamptz END,
        '1970-01-01Z', '1970-01-01T23:59:59Z'::timestamptz + n * interval '1 millisecond'
      FROM generate_series(1, ${count}::int) AS n
      CROSS JOIN LATERAL (SELECT CASE WHEN n % 1000 = 0 THEN 'failed' ELSE 'completed' END AS status) AS one
    `
  )

for (const [name, database] of TestDatabase.all) {
  layer(Layer.provideMerge(SqlGenerationStore.layer, database))(`A page of many generations (${name})`, (it) => {
    it.effect("reads at most one page of rows for each status, kind and plan", () =>
      Effect.gen(function*() {
        yield* Migrations.run([SqlGenerationStore.migrations])
        const sql = yield* SqlClient.SqlClient
        const limit = 10
        // A plan that is made while the table is empty is kept.
        const early = yield* QueryPlan.explain(selectPage(sql, "big", { limit }))
        assert.notInclude(early.map(({ type }) => type), "Seq Scan")
        yield* insertMany(4_000)
        yield* sql`ANALYZE generation_job`
        const selections: ReadonlyArray<Selection> = [{ limit }, { limit, status: "failed" }, { limit, kind: "video" }]
        for (const selection of selections) {
          const steps = yield* QueryPlan.explain(selectPage(sql, "big", selection))
          const scans = steps.filter(({ table }) => table === "generation_job")
          assert.isNotEmpty(scans)
          for (const { filtered, loops, rows, type } of scans) {
            assert.match(type, /Index|Bitmap Heap/)
            assert.isAtMost(rows, limit * loops)
            assert.isAtMost(loops, 24)
            assert.strictEqual(filtered, 0)
          }
        }
      }))

    it.effect("is planned once for all accounts, filters and limits of about the same size", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const some = GenerationId.fromUuid("00000000-0000-0000-0000-0000000007d0")
        const selections: ReadonlyArray<Selection> = [
          { limit: 17 },
          { limit: 20, status: "failed" },
          { limit: 32, kind: "video", before: some },
          { limit: 30, plan: "credits", from: some }
        ]
        const plans = yield* sql.withTransaction(Effect.gen(function*() {
          for (let round = 0; round < 5; round++) {
            for (const selection of selections) {
              for (const account of ["another", "big", "none"]) yield* selectPage(sql, account, selection)
            }
          }
          return yield* sql`
            SELECT generic_plans::int4 AS kept, custom_plans::int4 AS planned FROM pg_prepared_statements
            WHERE statement LIKE ${"%FROM generation_job AS job%"} AND statement NOT LIKE 'EXPLAIN%'
          `
        }))
        // The first five executions of any statement are planned.
        assert.deepStrictEqual(plans, [{ kept: 55, planned: 5 }])
      }))
  })

  layer(Layer.provideMerge(SqlGenerationStore.layer, database))(`A search in many generations (${name})`, (it) => {
    it.effect("reads at most one page of rows for each status and model", () =>
      Effect.gen(function*() {
        yield* Migrations.run([SqlGenerationStore.migrations])
        const sql = yield* SqlClient.SqlClient
        yield* insertMany(4_000)
        yield* sql`ANALYZE generation_job`
        const limit = 10
        const selections: ReadonlyArray<SearchSelection> = [
          { limit },
          { limit, status: "failed" },
          { limit, model: "canvas" },
          { limit, model: "none", status: "completed" }
        ]
        for (const selection of selections) {
          const steps = yield* QueryPlan.explain(selectFound(sql, selection))
          const scans = steps.filter(({ table }) => table === "generation_job")
          assert.isNotEmpty(scans)
          for (const { filtered, loops, rows, type } of scans) {
            assert.match(type, /Index|Bitmap Heap/)
            assert.isAtMost(rows, limit * loops)
            assert.isAtMost(loops, 12)
            assert.strictEqual(filtered, 0)
          }
        }
      }))
  })

  layer(database)(`Old rows (${name})`, (it) => {
    it.effect("are deleted through an index, whatever else is stored", () =>
      Effect.gen(function*() {
        yield* Migrations.run([SqlGenerationStore.migrations])
        const sql = yield* SqlClient.SqlClient
        yield* insertMany(4_000)
        // The results of half of the jobs still have files.
        yield* sql`UPDATE generation_job SET output = NULL WHERE right(id::text, 1) < '8'`
        yield* sql`
          INSERT INTO generation_usage (account, day, plan, model, kind, completed, failed, cancelled, credits)
          SELECT n::text, '1970-01-01'::date + n, 'studio', 'canvas', 'image', 1, 0, 0, 0
          FROM generate_series(1, 4000) AS n
        `
        yield* sql`
          INSERT INTO generation_key_usage (account, day, plan, model, kind, key_id, completed, failed, cancelled, credits)
          SELECT account, day, plan, model, kind, 'key', completed, failed, cancelled, credits FROM generation_usage
        `
        yield* sql`ANALYZE generation_job, generation_usage, generation_key_usage`
        yield* TestClock.setTime(Date.parse("1970-01-04T00:00:00Z"))
        const limit = 10
        const clock = yield* DatabaseTime.hostClock
        for (
          const deletion of [
            Deletions.endedDeletion(sql, clock, yield* DateTime.now, limit),
            Deletions.usageDeletion(sql, "generation_usage", "1980-01-01", limit),
            Deletions.usageDeletion(sql, "generation_key_usage", "1980-01-01", limit)
          ]
        ) {
          const scans = (yield* QueryPlan.explain(deletion)).filter(({ type }) => type.includes("Scan"))
          assert.isNotEmpty(scans)
          for (const { filtered, rows, type } of scans) {
            assert.notStrictEqual(type, "Seq Scan")
            assert.isAtMost(rows, limit)
            assert.strictEqual(filtered, 0)
          }
        }
      }))
  })

  layer(Layer.provideMerge(SqlGenerationStore.layer, database))(`Jobs of the first release (${name})`, (it) => {
    it.effect("are counted in the usage on the days of their end", () =>
      Effect.gen(function*() {
        const store = yield* GenerationStore
        yield* Migrations.run([{ namespace, migrations: { "0001_create_job": migrations["0001_create_job"]! } }])
        yield* insertMany(2_000)
        yield* Migrations.run([SqlGenerationStore.migrations])
        const row = { plan: "credits", model: "canvas", kind: "image", cancelled: 0 } as const
        assert.deepStrictEqual(yield* store.usage("big", { from: "1970-01-01", to: "1970-01-31" }), [
          { ...row, day: "1970-01-01", completed: 999, failed: 0, credits: 999 * 8 },
          { ...row, day: "1970-01-02", completed: 999, failed: 2, credits: 999 * 8 }
        ])
        const [oldest] = yield* store.list("big", { status: "failed", limit: 1 })
        assert.deepStrictEqual(oldest?.images, [])
      }))
  })

  layer(layerSql(database))(`Jobs that cannot be decoded (${name})`, (it) => {
    it.effect("start and end with the others, and only the others are returned", () =>
      Effect.gen(function*() {
        const store = yield* GenerationStore
        const sql = yield* SqlClient.SqlClient
        const account = yield* openAccount({ credits: 100 })
        const { create } = yield* Generations
        const [sound, damaged] = yield* Effect.forEach(
          ["sound", "damaged"],
          (key) => Effect.flatMap(request(account, { key }), create)
        )
        const ids = [sound!.generation.id, damaged!.generation.id]
        yield* sql`UPDATE generation_job SET params = '[]' WHERE id = ${GenerationId.toUuid(ids[1]!)}::uuid`
        const at = yield* DateTime.now

        const started = yield* store.start(ids.map((id) => ({ id, at, attempt: 1, epoch: 1, worker: "test" })))
        assert.deepStrictEqual(started, [{ ...sound!.generation, status: "processing", startedAt: at }])
        assert.deepStrictEqual(yield* store.find([ids[0]!]), started)

        const failure = { code: "generation_failed", message: "No.", reason: null } as const
        const nothing = { output: null, resultExpiresAt: null }
        const ended = yield* store.end(ids.map((id) => ({ id, status: "failed", at, failure, ...nothing })))
        assert.deepStrictEqual(ended, [{ ...started[0]!, status: "failed", failure, refunded: true, finishedAt: at }])
        const rows = yield* sql`SELECT status FROM generation_job WHERE account = ${account.id}`
        assert.deepStrictEqual(rows.map(({ status }) => status), ["failed", "failed"])
        assert.deepStrictEqual(
          yield* store.end(ids.map((id) => ({ id, status: "failed", at, failure, ...nothing }))),
          []
        )
      }))
  })

  layer(layerSql(database))(`Results that cannot be decoded (${name})`, (it) => {
    it.effect("are postponed and do not stop the sweep", () =>
      Effect.gen(function*() {
        const { expireResults } = yield* GenerationSweep
        const store = yield* GenerationStore
        yield* insertMany(3)
        const sql = yield* SqlClient.SqlClient
        const file = { key: "generations/a/1/content", mime: "image/png", bytes: 1, sha256: "" }
        const output = JSON.stringify({ content: file, preview: null, thumb: null, poster: null })
        yield* sql`UPDATE generation_job SET output = ${output}::jsonb WHERE id = ${`${"0".repeat(31)}3`}::uuid`
        yield* TestClock.setTime(Date.parse("1970-01-04T00:00:00Z"))
        assert.strictEqual(yield* expireResults(2), 0)
        assert.strictEqual(yield* expireResults(2), 1)
        assert.deepStrictEqual(yield* store.expired(yield* DateTime.now, 10), [])
        yield* TestClock.adjust("15 minutes")
        assert.strictEqual((yield* store.expired(yield* DateTime.now, 10)).length, 2)
      }))
  })
}
