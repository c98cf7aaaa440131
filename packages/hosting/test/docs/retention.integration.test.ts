import { assert, it } from "@effect/vitest"
import { Migrations } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Stores from "../../src/Stores.ts"
import { read } from "./Page.ts"

it.effect("docs/reference/retention.md lists every table of the database", () =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const tables = yield* sql<{ readonly name: string }>`
      SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()
    `
    // Each package records its migrations in a table of its own.
    const names = tables.map(({ name }) => name).filter((name) => !name.endsWith("_migrations"))
    const page = yield* read("reference/retention.md")
    const listed = Array.from(page.matchAll(/^\| `(\w+)`/gm), ([, name = ""]) => name)
    assert.deepStrictEqual(listed.toSorted(), names.toSorted())
  }).pipe(
    Effect.provide(Migrations.layer(...Stores.migrations).pipe(Layer.provideMerge(TestDatabase.pglite)))
  ))
