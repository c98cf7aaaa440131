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
const contractedLibrary = {
  namespace: "library",
  migrations: { ...both, "0003_contract_label": statement("ALTER TABLE library_shelf DROP COLUMN label") }
}
const garden = {
  namespace: "garden",
  migrations: {
    "0001_bed": Migrations.statements((sql) => [
      sql`CREATE TABLE garden_bed (id int)`,
      sql`INSERT INTO garden_bed VALUES (7)`
    ])
  }
}

for (const [name, database] of TestDatabase.all) {
  layer(database)(`Migrations (${name})`, (it) => {
    it.effect("runs the migrations of each package once, and rejects a database that a newer build has contracted", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const unready = yield* Effect.flip(Migrations.check([library]))
        assert.strictEqual(unready._tag, "SchemaMismatch")

        yield* Effect.all([Migrations.run([library]), Migrations.run([library])], { concurrency: 2 })
        yield* Migrations.run([newerLibrary, garden])
        yield* Migrations.check([newerLibrary, garden])
        yield* sql`INSERT INTO library_shelf (id, label) VALUES (1, 'a')`
        assert.deepStrictEqual(yield* sql`SELECT id FROM garden_bed`, [{ id: 7 }])

        // The newer build has only expanded, so the older one runs beside it.
        yield* Migrations.run([library])
        yield* Migrations.check([library])
        yield* sql`INSERT INTO library_shelf (id) VALUES (2)`

        yield* Migrations.run([contractedLibrary])
        const message =
          "The schema \"library\" is at migration 3, which removed something that this build (1) uses. Run a newer build"
        assert.strictEqual((yield* Effect.flip(Migrations.run([library]))).message, message)
        assert.strictEqual((yield* Effect.flip(Migrations.check([library]))).message, message)
        yield* Migrations.run([contractedLibrary])
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

const indexed = (indexes: Readonly<Record<string, string>>): Migrations.Migrations => ({
  namespace: "indexed",
  migrations: { "0001_shelf": statement("CREATE TABLE indexed_shelf (id int, label text)") },
  indexes
})
const byLabel = { indexed_shelf_label: "ON indexed_shelf (label) WHERE label IS NOT NULL" }

const indexesOfShelf = SqlClient.SqlClient.use((sql) =>
  sql<{ readonly name: string; readonly valid: boolean }>`
    SELECT indexrelid::regclass::text AS name, indisvalid AS valid
    FROM pg_index WHERE indrelid = 'indexed_shelf'::regclass ORDER BY 1
  `
)
const built = [{ name: "indexed_shelf_label", valid: true }]

for (const [name, database] of TestDatabase.all) {
  layer(database)(`Indexes (${name})`, (it) => {
    it.effect("are built after the migrations, also on a database that has them all", () =>
      Effect.gen(function*() {
        yield* Migrations.run([indexed({})])
        assert.deepStrictEqual(yield* indexesOfShelf, [])
        yield* Migrations.run([indexed(byLabel)])
        assert.deepStrictEqual(yield* indexesOfShelf, built)
        yield* Migrations.run([indexed(byLabel)])
        assert.deepStrictEqual(yield* indexesOfShelf, built)
      }))

    it.effect("replace those of earlier builds once all are built", () =>
      Effect.gen(function*() {
        yield* Migrations.run([indexed({ ...byLabel, indexed_shelf_old: "ON indexed_shelf (label)" })])
        const replacing = { ...indexed(byLabel), replacedIndexes: ["indexed_shelf_old", "indexed_shelf_gone"] }
        yield* Migrations.run([replacing])
        assert.deepStrictEqual(yield* indexesOfShelf, built)
        yield* Migrations.run([replacing])
        assert.deepStrictEqual(yield* indexesOfShelf, built)
      }))

    it.effect("are not built again by an older build after a newer one has removed them", () =>
      Effect.gen(function*() {
        yield* Migrations.run([indexed(byLabel)])
        const { migrations, namespace } = indexed({})
        const drop = { "0002_no_label": statement("DROP INDEX indexed_shelf_label") }
        yield* Migrations.run([{ namespace, migrations: { ...migrations, ...drop } }])
        yield* Migrations.run([indexed(byLabel)])
        assert.deepStrictEqual(yield* indexesOfShelf, [])
      }))
  })
}

layer(TestDatabase.postgres, { excludeTestServices: true })("An index of a table that is in use", (it) => {
  it.effect("is built while others write, and built again if a build has left it invalid", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* Migrations.run([indexed({})])
      const writes = yield* Deferred.make<void>()
      const ends = yield* Deferred.make<void>()
      const write = (label: string) => sql`INSERT INTO indexed_shelf (id, label) VALUES (1, ${label})`
      const writer = yield* write("a").pipe(
        Effect.andThen(Deferred.succeed(writes, undefined)),
        Effect.andThen(Deferred.await(ends)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(writes)

      // A build waits for the writer, but the start does not wait for longer than this.
      yield* Migrations.run([indexed(byLabel)], { indexLockedMax: "20 millis" })
      assert.deepStrictEqual(yield* indexesOfShelf, [{ name: "indexed_shelf_label", valid: false }])

      const building = yield* Effect.forkChild(Migrations.run([indexed(byLabel)]), { startImmediately: true })
      yield* Effect.repeat(isBuilding, { until: (is) => is })
      yield* write("b")
      // Another process leaves it to this one.
      yield* Migrations.run([indexed(byLabel)])
      assert.isUndefined(building.pollUnsafe())
      yield* Deferred.succeed(ends, undefined)
      yield* Fiber.join(writer)
      yield* Fiber.join(building)
      assert.deepStrictEqual(yield* indexesOfShelf, built)
      const [limits] = yield* sql`SELECT current_setting('lock_timeout') AS lock`
      assert.deepStrictEqual(limits, { lock: "0" })
    }))
})

layer(TestDatabase.postgres, { excludeTestServices: true })("Two indexes of a table that is in use", (it) => {
  it.effect("are built by one of two processes that start at once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const byBoth = indexed({ ...byLabel, indexed_shelf_id: "ON indexed_shelf (id)" })
      yield* Migrations.run([indexed({})])
      const writes = yield* Deferred.make<void>()
      const ends = yield* Deferred.make<void>()
      const writer = yield* sql`INSERT INTO indexed_shelf (id) VALUES (1)`.pipe(
        Effect.andThen(Deferred.succeed(writes, undefined)),
        Effect.andThen(Deferred.await(ends)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(writes)

      const building = yield* Effect.forkChild(Migrations.run([byBoth]), { startImmediately: true })
      yield* Effect.repeat(isBuilding, { until: (is) => is })
      // A second build on the table would wait for the first, which in turn waits for all transactions: a deadlock.
      yield* Migrations.run([byBoth])
      yield* Deferred.succeed(ends, undefined)
      yield* Fiber.join(writer)
      yield* Fiber.join(building)
      assert.deepStrictEqual(yield* indexesOfShelf, [{ name: "indexed_shelf_id", valid: true }, ...built])
    }))
})

layer(TestDatabase.postgres, { excludeTestServices: true })("A migration that the database rolled back", (it) => {
  it.effect("runs again as a whole", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      let attempts = 0
      const victim = {
        namespace: "victim",
        migrations: {
          "0001_shelf": Effect.andThen(
            statement("CREATE TABLE victim_shelf (id int)"),
            Effect.suspend(() => statement(++attempts === 1 ? deadlock : "SELECT 1"))
          )
        }
      }
      yield* Migrations.run([victim])
      assert.strictEqual(attempts, 2)
      yield* Migrations.check([victim])
      yield* sql`SELECT id FROM victim_shelf`
    }))
})

/** Fails as a statement does that Postgres chose to end a deadlock. */
const deadlock = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$"

/** Whether a build waits in this database, to drop the invalid index or to build another. */
const isBuilding = SqlClient.SqlClient.use((sql) =>
  Effect.map(
    sql`
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE '% INDEX CONCURRENTLY indexed_shelf_label%'
        AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'
    `,
    ({ length }) => length > 0
  )
)
