import { assert, it } from "@effect/vitest"
import { TcpProxy, TestDatabase } from "@kinora/testkit"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../src/Database.ts"

/** Builds the layers on a new database with a single migration. */
const migrateWith = Effect.fnUntraced(function*(
  migration: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>
) {
  const options = { url: Redacted.make(yield* TestDatabase.postgresUrl), dataDirectory: "unused" }
  const packages = [{
    namespace: "slow",
    migrations: { "0001_slow": Effect.flatMap(SqlClient.SqlClient, migration) }
  }]
  return yield* Layer.build(
    Layer.fresh(Database.layerMigrations(options, packages).pipe(Layer.provideMerge(Database.layer(options))))
  )
})

const limitsOf = (sql: SqlClient.SqlClient) =>
  sql<{ readonly statement: string; readonly lock: string }>`
    SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock
  `

it.live("applies no statement timeout to migrations, and one to requests", () =>
  Effect.gen(function*() {
    const seen: Array<unknown> = []
    const services = yield* migrateWith((sql) =>
      Effect.tap(limitsOf(sql), (rows) => Effect.sync(() => seen.push(...rows)))
    )
    assert.deepStrictEqual(seen, [{ statement: "0", lock: "10s" }])
    const [limits] = yield* Effect.provide(Effect.flatMap(SqlClient.SqlClient, limitsOf), services)
    assert.deepStrictEqual(limits, { statement: "30s", lock: "10s" })
  }).pipe(Effect.scoped))

it.live("reports that the database was lost during a migration", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(migrateWith((sql) => sql`SELECT pg_terminate_backend(pg_backend_pid())`))
    assert.strictEqual(error._tag, "DatabaseLost")
    assert.match(
      error.message,
      /^The database stopped responding during a migration\. .* start again$/
    )
  }).pipe(Effect.scoped))

it.live("fails statements and units when Postgres stops responding, also on idle connections, and recovers", () =>
  Effect.gen(function*() {
    const proxy = yield* TcpProxy.make(yield* TestDatabase.postgresUrl)
    const options = { url: Redacted.make(proxy.url), dataDirectory: "unused", silenceMax: "2 seconds" } as const
    const services = yield* Layer.build(Layer.fresh(Database.layer(options)))
    const many = Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const statement = Effect.result(sql`SELECT 1`)
      const unit = Effect.result(sql.withTransaction(sql`SELECT 1`))
      const results = yield* Effect.forEach(Array.from({ length: 40 }), (_, n) => n % 2 === 0 ? statement : unit, {
        concurrency: "unbounded"
      })
      return results.filter(Result.isSuccess).length
    }).pipe(Effect.provide(services))

    assert.strictEqual(yield* many, 40)
    yield* proxy.hang
    assert.strictEqual(yield* many, 0)
    yield* proxy.resume
    assert.strictEqual(yield* many, 40)
  }).pipe(Effect.scoped))
