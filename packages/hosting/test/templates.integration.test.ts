/** The template of the embedded database of hosts. */
import { assert, it } from "@effect/vitest"
import { Migrations } from "@kinora/persistence"
import { PgliteClient } from "@kinora/pglite"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Database from "../src/Database.ts"
import * as Templates from "../src/internal/database/templates.ts"
import * as Stores from "../src/Stores.ts"
import * as SchemaDescription from "./SchemaDescription.ts"

const makeDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "kinora-template-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** Timeout in milliseconds. Two databases are initialised. */
const startsMax = 120_000

const description = SqlClient.SqlClient.use((sql) => sql.unsafe(`${SchemaDescription.queryOf("public")} ORDER BY 1, 2`))

/** Names of the tables that have rows. */
const filledTables = SqlClient.SqlClient.use(Effect.fnUntraced(function*(sql) {
  const tables = yield* sql<{ readonly name: string }>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
  `
  const filled = yield* Effect.filter(
    tables,
    ({ name }) => Effect.map(sql`SELECT FROM ${sql(name)} LIMIT 1`, (rows) => rows.length > 0)
  )
  return filled.map(({ name }) => name)
}))

const recordsOf = Effect.forEach(
  Stores.migrations,
  ({ namespace }) =>
    SqlClient.SqlClient.use((sql) => sql`SELECT migration_id, name FROM ${sql(`${namespace}_migrations`)} ORDER BY 1`)
)

it.live("has the tables that the migrations create, and no rows but their records", () =>
  Effect.gen(function*() {
    const directory = yield* makeDirectory
    yield* Templates.write(Stores.migrations, directory)
    const template = yield* Templates.pathOf(Stores.migrations, directory)
    const [migrated, records] = yield* Effect.andThen(
      Migrations.run(Stores.migrations),
      Effect.all([description, recordsOf])
    ).pipe(Effect.provide(PgliteClient.layer({ dataDirectory: join(directory, "migrated") })))
    assert.isAbove(migrated.length, 300)

    yield* Effect.gen(function*() {
      yield* Migrations.check(Stores.migrations)
      assert.deepStrictEqual(yield* description, migrated)
      assert.deepStrictEqual(yield* recordsOf, records)
      const namesOfRecords = Stores.migrations.map(({ namespace }) => `${namespace}_migrations`)
      assert.sameMembers(yield* filledTables, namesOfRecords)
      // Migrations of a template find nothing to do.
      yield* Migrations.run(Stores.migrations)
      assert.deepStrictEqual(yield* description, migrated)
    }).pipe(Effect.provide(PgliteClient.layer({ dataDirectory: join(directory, "copied"), template })))
  }).pipe(Effect.scoped), startsMax)

it.live("is not found by builds with other migrations", () =>
  Effect.gen(function*() {
    const [first, ...others] = Stores.migrations
    assert.isDefined(first)
    const [[name, migration] = assert.fail("no migration"), ...rest] = Object.entries(first.migrations)
    const withFirst = (changed: Partial<Migrations.Migrations>) => [{ ...first, ...changed }, ...others]
    const statement = SqlClient.SqlClient.use((sql) => sql`SELECT ${1}::int`)
    const sets = [
      Stores.migrations,
      others,
      withFirst({ namespace: "other" }),
      withFirst({ migrations: Object.fromEntries(rest) }),
      withFirst({ migrations: { ...first.migrations, "9999_new": Effect.void } }),
      withFirst({ migrations: { ...first.migrations, [name]: Effect.andThen(migration, statement) } }),
      withFirst({ indexes: { ...first.indexes, accounts_other: "ON accounts_account (id)" } })
    ]
    const paths = yield* Effect.forEach(sets, (set) => Templates.pathOf(set))
    assert.strictEqual(new Set(paths).size, sets.length)
    assert.strictEqual(yield* Templates.pathOf(Stores.migrations), paths[0])
  }))

it.live("is where a first start of a host takes its tables from", () =>
  Effect.gen(function*() {
    // `npm ci` builds it.
    const path = yield* Templates.pathOf(Stores.migrations)
    const built = yield* Effect.promise(() => readdir(Templates.builtTemplates).catch(() => []))
    if (!built.some((name) => join(Templates.builtTemplates, name).startsWith(path))) {
      yield* Templates.write(Stores.migrations)
    }
    const dataDirectory = yield* makeDirectory
    const options = { url: undefined, dataDirectory, migrations: Stores.migrations }
    yield* Effect.provide(Migrations.check(Stores.migrations), Database.layer(options))
    assert.isTrue(existsSync(join(dataDirectory, "database/PG_VERSION")))
  }).pipe(Effect.scoped), startsMax)

it.live("is not used for migrations that cannot be described, which run as usual", () =>
  Effect.gen(function*() {
    const dataDirectory = yield* makeDirectory
    const namespace = "reading"
    const reading: Migrations.Migrations = {
      namespace,
      migrations: {
        "0001_reads": SqlClient.SqlClient.use(Effect.fnUntraced(function*(sql) {
          const [row] = yield* sql<{ readonly version: string }>`SELECT version() AS version`
          yield* sql.unsafe(`CREATE TABLE reading_of (version text DEFAULT '${row!.version.slice(0, 10)}')`)
        }))
      }
    }
    const options = { url: undefined, dataDirectory, migrations: [reading] }
    yield* Effect.provide(
      Effect.andThen(Migrations.run([reading]), Migrations.check([reading])),
      Database.layer(options)
    )
  }).pipe(Effect.scoped), startsMax)
