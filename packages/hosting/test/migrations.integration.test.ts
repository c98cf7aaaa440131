import { assert, layer } from "@effect/vitest"
import { Migrations } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Stores from "../src/Stores.ts"

/** Tables and indexes of the database, each index with its table. */
const schemaOf = SqlClient.SqlClient.use((sql) =>
  Effect.map(
    sql<{ readonly table: string; readonly index: string | null }>`
      SELECT c.relname AS table, i.indexrelid::regclass::text AS index
      FROM pg_class c LEFT JOIN pg_index i ON i.indrelid = c.oid
      WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
    `,
    (rows) => ({
      tables: new Set(rows.map(({ table }) => table)),
      indexes: new Map(rows.flatMap(({ index, table }) => index === null ? [] : [[index, table] as const]))
    })
  )
)

/** Tables with few rows: those of waiting and running jobs, and of workers. */
const small: ReadonlySet<string> = new Set(["scheduler_job", "scheduler_worker"])

/** Indexes of migrations that are older than this rule. */
const old = ["accounts_plan_period_end", "generation_job_listing", "generation_job_due"]

layer(TestDatabase.pglite)("The migrations of all packages", (it) => {
  it.effect("build no index of a table that can have many rows in their transaction, which would block writes", () =>
    Effect.gen(function*() {
      const found: Array<string> = []
      for (const { migrations, namespace } of Stores.migrations) {
        const entries = Object.entries(migrations)
        for (let count = 1; count <= entries.length; count++) {
          const before = yield* schemaOf
          yield* Migrations.run([{ namespace, migrations: Object.fromEntries(entries.slice(0, count)) }])
          const { indexes } = yield* schemaOf
          for (const [index, table] of indexes) {
            if (before.tables.has(table) && !small.has(table) && !before.indexes.has(index)) found.push(index)
          }
        }
      }
      // Declare a new one among `indexes` of its package.
      assert.sameMembers(found, old)
    }))
})
