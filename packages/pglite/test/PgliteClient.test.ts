import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { openAsBlob } from "node:fs"
import { inject } from "vitest"
import { PgliteClient } from "../src/index.ts"

const dump = Effect.promise(() => openAsBlob(inject("pgliteDump")))

/** Starts from the dump of the run, which costs an eighth of an initialisation. */
const fromDump = Layer.unwrap(Effect.map(dump, (loadDataDir) => PgliteClient.layer({ loadDataDir })))

const withBuffers = (bufferBytes: number) =>
  Layer.unwrap(Effect.map(dump, (loadDataDir) => PgliteClient.layer({ loadDataDir, bufferBytes })))

layer(withBuffers(1024 * 1024 + 1), { excludeTestServices: true })("PgliteClient with `bufferBytes`", (it) => {
  it.effect("has a buffer cache of at least this size", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SHOW shared_buffers`, [{ shared_buffers: "1032kB" }])
    }))
})

layer(fromDump, { excludeTestServices: true })("PgliteClient", (it) => {
  it.effect("has a buffer cache of 32 MiB", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SHOW shared_buffers`, [{ shared_buffers: "32MB" }])
    }))

  it.effect("delays statements of other connections until an open transaction ends", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE seen (id int)`
      const inserted = yield* Deferred.make<void>()
      const mayCommit = yield* Deferred.make<void>()
      const writer = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`INSERT INTO seen VALUES (1)`
        yield* Deferred.succeed(inserted, undefined)
        yield* Deferred.await(mayCommit)
        yield* sql`INSERT INTO seen VALUES (2)`
      })))
      yield* Deferred.await(inserted)
      const reader = yield* Effect.forkChild(sql`SELECT id FROM seen ORDER BY id`, { startImmediately: true })
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(writer)
      assert.deepStrictEqual(yield* Fiber.join(reader), [{ id: 1 }, { id: 2 }])
    }))

  it.effect("loses no update of more concurrent transactions than connections", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE counter (value int NOT NULL)`
      yield* sql`INSERT INTO counter VALUES (0)`
      const increment = sql.withTransaction(Effect.gen(function*() {
        const [row] = yield* sql<{ readonly value: number }>`SELECT value FROM counter`
        yield* sql`UPDATE counter SET value = ${row!.value + 1}`
      }))
      yield* Effect.forEach(Array.from({ length: 50 }), () => increment, { concurrency: "unbounded", discard: true })
      assert.deepStrictEqual(yield* sql`SELECT value FROM counter`, [{ value: 50 }])
    }))

  it.effect("rolls back a transaction whose fiber is interrupted, and continues with the others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE interrupted (id int)`
      const inserted = yield* Deferred.make<void>()
      const writer = yield* Effect.forkChild(sql.withTransaction(
        sql`INSERT INTO interrupted VALUES (1)`.pipe(
          Effect.andThen(Deferred.succeed(inserted, undefined)),
          Effect.andThen(Effect.never)
        )
      ))
      yield* Deferred.await(inserted)
      yield* Fiber.interrupt(writer)
      assert.deepStrictEqual(yield* sql`SELECT id FROM interrupted`, [])
    }))

  it.effect("keeps the session usable after a statement fails inside a transaction", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE half (id int PRIMARY KEY)`
      const exit = yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql`INSERT INTO half VALUES (1)`, sql`INSERT INTO half VALUES (1)`))
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* sql`SELECT id FROM half`, [])
    }))

  it.effect("delivers a notification to the listeners of its channel, after the commit", () =>
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const first = yield* sql.listen("news")
      const second = yield* sql.listen("news")
      const other = yield* sql.listen("weather")
      yield* Effect.exit(
        sql.withTransaction(Effect.andThen(sql`SELECT pg_notify('news', 'undone')`, Effect.fail("no")))
      )
      yield* sql.withTransaction(sql`SELECT pg_notify('news', 'done')`)
      yield* sql.notify("weather", "rain")
      assert.strictEqual((yield* Queue.take(first)).payload, "done")
      assert.strictEqual((yield* Queue.take(second)).payload, "done")
      assert.strictEqual((yield* Queue.take(other)).payload, "rain")
    }).pipe(Effect.scoped))

  it.effect("transfers rows and parameters that are larger than any buffer", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE large (id int, body text, bytes bytea)`
      const body = "aä€😀".repeat(1_000_000)
      const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => index % 251)
      yield* Effect.forEach([1, 2, 3], (id) => sql`INSERT INTO large VALUES (${id}, ${body}, ${bytes})`, {
        concurrency: 3
      })
      const rows = yield* sql<{ readonly id: number; readonly body: string; readonly bytes: Uint8Array }>`
        SELECT id, body, bytes FROM large ORDER BY id
      `
      assert.deepStrictEqual(rows.map((row) => row.id), [1, 2, 3])
      assert.isTrue(rows.every((row) => row.body === body && Buffer.compare(row.bytes, bytes) === 0))
    }))
})
