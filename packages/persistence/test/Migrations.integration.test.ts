import { assert, layer } from "@effect/vitest"
import { TestDatabase } from "@kinora/testkit"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../src/Migrations.ts"

const statement = (text: string) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text))

const first = { "0001_shelf": statement("CREATE TABLE library_shelf (id int PRIMARY KEY)") }
const both = { ...first, "0002_label": statement("ALTER TABLE library_shelf ADD COLUMN label text") }
const library = { namespace: "library", migrations: first }
const newerLibrary = { namespace: "library", migrations: both }
const garden = { namespace: "garden", migrations: { "0001_bed": statement("CREATE TABLE garden_bed (id int)") } }

for (const [name, database] of TestDatabase.all) {
  layer(database)(`Migrations (${name})`, (it) => {
    it.effect("runs the migrations of each package once, and rejects a newer database", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const unready = yield* Effect.flip(Migrations.check([library]))
        assert.strictEqual(unready._tag, "SchemaMismatch")

        yield* Effect.all([Migrations.run([library]), Migrations.run([library])], { concurrency: 2 })
        yield* Migrations.run([newerLibrary, garden])
        yield* Migrations.check([newerLibrary, garden])
        yield* sql`INSERT INTO library_shelf (id, label) VALUES (1, 'a')`
        yield* sql`SELECT id FROM garden_bed`

        const error = yield* Effect.flip(Migrations.run([library]))
        assert.strictEqual(
          error.message,
          "The schema \"library\" is at migration 2, newer than this build (1). Run a newer build"
        )
      }))
  })
}

const shelf = { namespace: "locked", migrations: { "0001_shelf": statement("CREATE TABLE locked_shelf (id int)") } }
const labelled = {
  ...shelf,
  migrations: { ...shelf.migrations, "0002_label": statement("ALTER TABLE locked_shelf ADD COLUMN label text") }
}

layer(TestDatabase.postgres, { excludeTestServices: true })("Migrations of a table that a report reads", (it) => {
  it.effect("run again until the report ends, and delay other queries only for the time of an attempt", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run([shelf])
      const reads = yield* Deferred.make<void>()
      const ends = yield* Deferred.make<void>()
      const report = yield* sql`SELECT FROM locked_shelf`.pipe(
        Effect.andThen(Deferred.succeed(reads, undefined)),
        Effect.andThen(Deferred.await(ends)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(reads)

      const error = yield* Effect.flip(Migrations.run([labelled], { lockMax: "20 millis", lockedMax: 0 }))
      assert.deepInclude(error, { _tag: "StorageError", reason: "unavailable" })

      const migrating = yield* Effect.forkChild(Migrations.run([labelled], { lockMax: "20 millis" }), {
        startImmediately: true
      })
      // While the migration waits for its lock, queries wait behind it.
      for (let count = 0; count < 20; count++) yield* sql`SELECT FROM locked_shelf`
      assert.isUndefined(migrating.pollUnsafe())
      yield* Deferred.succeed(ends, undefined)
      yield* Fiber.join(report)
      yield* Fiber.join(migrating)
      yield* Migrations.check([labelled])
    }))
})
