import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { run } from "../src/internal/migrate/command.ts"
import * as Migrations from "../src/Migrations.ts"

const shop: Migrations.Relocatable = {
  namespace: "shop",
  migrations: {
    "0001_items": Migrations.statements((sql) => [
      sql`
        CREATE TABLE shop_item (
          id int PRIMARY KEY
        )
      `,
      sql`
        CREATE FUNCTION shop_count() RETURNS int LANGUAGE sql AS $$
          SELECT count(*) FROM shop_item
        $$
      `
    ]),
    "0002_labels": Migrations.statements((sql) => [sql`ALTER TABLE shop_item ADD COLUMN label text`])
  },
  indexes: { shop_item_label: "ON shop_item (label)" },
  replacedIndexes: ["shop_item_old"],
  objects: { tables: ["shop_item"], functions: ["shop_count"] }
}

const modules: Readonly<Record<string, unknown>> = {
  "@acme/shop/migrations": { migrations: shop },
  "@acme/old/migrations": { migrations: { namespace: "old", migrations: {} } },
  "@acme/asks/migrations": {
    migrations: {
      ...shop,
      migrations: { "0001_asks": SqlClient.SqlClient.use((sql) => sql`SELECT ${1}`) }
    }
  },
  "@kinora/empty/migrations": {}
}

const load = (name: string) =>
  name in modules ? Promise.resolve(modules[name]) : Promise.reject(new Error(`Cannot find ${name}\nRequire stack`))

const call = (...args: ReadonlyArray<string>) => run(args, { load, databaseUrl: undefined })

const expectedSql = `-- shop in the schema retail: migrations 1 to 2.

CREATE SCHEMA IF NOT EXISTS "retail";

CREATE TABLE "retail".shop_migrations (
  migration_id integer primary key,
  created_at timestamp with time zone not null default now(),
  name text not null
);

-- 0001_items

CREATE TABLE "retail".shop_item (
  id int PRIMARY KEY
);

CREATE FUNCTION "retail".shop_count() RETURNS int LANGUAGE sql AS $$
          SELECT count(*) FROM "retail".shop_item
        $$;

INSERT INTO "retail".shop_migrations (migration_id, name) VALUES (1, 'items');

-- 0002_labels

ALTER TABLE "retail".shop_item ADD COLUMN label text;

INSERT INTO "retail".shop_migrations (migration_id, name) VALUES (2, 'labels');

-- Indexes of tables that can have many rows

CREATE INDEX IF NOT EXISTS shop_item_label ON "retail".shop_item (label);

DROP INDEX IF EXISTS "retail".shop_item_old;
`

const expectedDown = `-- Removes shop from the schema retail, with its data.

DROP TABLE IF EXISTS "retail".shop_item, "retail".shop_migrations;

DROP FUNCTION IF EXISTS "retail".shop_count;
`

describe("kinora-migrate", () => {
  it.effect("prints the SQL of the migrations in a schema", () =>
    Effect.gen(function*() {
      const output = yield* call("sql", "@acme/shop", "--schema", "retail")
      assert.deepStrictEqual(output, { exitCode: 0, stdout: expectedSql, stderr: "" })
    }))

  it.effect("prints the SQL of newer migrations only, which stops at another database", () =>
    Effect.gen(function*() {
      const { stdout } = yield* call("sql", "@acme/shop", "--after=1")
      assert.include(stdout, "IF (SELECT max(migration_id) FROM shop_migrations) IS DISTINCT FROM 1 THEN")
      assert.include(stdout, "ALTER TABLE shop_item ADD COLUMN label text;")
      assert.notInclude(stdout, "CREATE TABLE")
    }))

  it.effect("prints the SQL that removes the tables", () =>
    Effect.gen(function*() {
      const output = yield* call("down", "@acme/shop", "--schema", "retail")
      assert.deepStrictEqual(output, { exitCode: 0, stdout: expectedDown, stderr: "" })
    }))

  it.effect("prints JSON", () =>
    Effect.gen(function*() {
      const { stdout } = yield* call("sql", "@acme/shop", "--schema", "retail", "--json")
      assert.deepStrictEqual(JSON.parse(stdout), [
        { package: "@acme/shop", schema: "retail", after: 0, newest: 2, sql: expectedSql }
      ])
    }))

  it.effect("prints its help", () =>
    Effect.gen(function*() {
      for (const args of [[], ["--help"], ["sql", "-h"]]) {
        const { exitCode, stderr, stdout } = yield* call(...args)
        assert.include(stdout, "kinora-migrate sql PACKAGE…")
        assert.deepStrictEqual([exitCode, stderr], [0, ""])
      }
    }))

  const invalid: ReadonlyArray<readonly [args: ReadonlyArray<string>, problem: string]> = [
    [["sql"], "Expected the name of a package"],
    [["undo", "ledger"], "Expected sql, up, status or down, got undo"],
    [["sql", "ledger", "--fast"], "Unknown option --fast"],
    [["sql", "ledger", "--schema"], "--schema needs a value"],
    [["sql", "ledger", "--after", "one"], "Expected the number of a migration for --after, got one"],
    [["down", "ledger", "--after", "1"], "--after is an option of sql, not of down"],
    [["sql", "@acme/shop", "--after", "7"], "@acme/shop has no migration 7. It has 1, 2"],
    [["sql", "@acme/shop", "--schema", "a.b"], "Expected the name of a schema"],
    [["up", "@acme/shop"], "Pass --url, or set DATABASE_URL"]
  ]
  for (const [args, problem] of invalid) {
    it.effect(`rejects "${args.join(" ")}" with exit code 2`, () =>
      Effect.gen(function*() {
        const { exitCode, stderr, stdout } = yield* call(...args)
        assert.include(stderr, problem)
        assert.deepStrictEqual([exitCode, stdout], [2, ""])
      }))
  }

  const failing: ReadonlyArray<readonly [args: ReadonlyArray<string>, problem: string]> = [
    [["sql", "ledger"], "@kinora/ledger/migrations cannot be loaded from this directory. Is the package installed?"],
    [["sql", "empty"], "@kinora/empty/migrations does not export migrations"],
    [["sql", "@acme/asks"], "A migration of shop has parameters, so it cannot be written as text"],
    [["down", "@acme/old"], "@acme/old/migrations does not state what it creates (objects)"],
    [["status", "@acme/shop", "--url", "postgres://localhost:1/shop"], "ECONNREFUSED"]
  ]
  for (const [args, problem] of failing) {
    it.effect(`fails for "${args.join(" ")}" with exit code 1 and one line`, () =>
      Effect.gen(function*() {
        const { exitCode, stderr, stdout } = yield* call(...args)
        assert.include(stderr, problem)
        assert.strictEqual(stderr.trimEnd().split("\n").length, 1)
        assert.deepStrictEqual([exitCode, stdout], [1, ""])
      }))
  }
})
