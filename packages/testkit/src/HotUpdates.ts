/**
 * Counts updates that change no index, because the new version of the row is in the page of the old one. Postgres calls them HOT,
 * for heap-only tuple, and removes the old versions when it reads the page.
 */
import { Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { assert } from "vitest"
import * as TestDatabase from "./TestDatabase.ts"

/** Creates an empty database on the Postgres of the run. Its client has one connection, since each reports its updates with a delay. */
export const database = Effect.map(
  TestDatabase.postgresUrl,
  (url) => TestDatabase.connected({ url: Redacted.make(url), maxConnections: 1 })
)

/** Rounds of updates. */
export interface Rounds<E, R> {
  /** The number of updates of each table in all rounds. */
  readonly updates: Readonly<Record<string, number>>
  /**
   * The rounds, one after another. Insert rows of several pages before, and update a part of the rows of each page per round: if
   * the pages are full, or a column of an index changes, the updates are not HOT.
   */
  readonly rounds: ReadonlyArray<Effect.Effect<unknown, E, R>>
}

/**
 * Fails unless at least 95 % of the updates of each table are HOT. Vacuums the tables before each round, as Postgres does when it
 * reads a page, unless a transaction of any database of the server is older than the old versions.
 */
export const verify = Effect.fnUntraced(function*<E, R>({ rounds, updates }: Rounds<E, R>) {
  const sql = yield* SqlClient.SqlClient
  const tables = Object.keys(updates)
  const before = yield* countAll(tables)
  for (const round of rounds) {
    for (const table of tables) yield* sql`VACUUM ${sql(table)}`
    yield* round
  }
  const after = yield* countAll(tables)
  for (const table of tables) {
    const updated = after.get(table)!.updated - before.get(table)!.updated
    const inPlace = after.get(table)!.inPlace - before.get(table)!.inPlace
    assert.strictEqual(updated, updates[table], `updates of ${table}`)
    assert.isAtLeast(inPlace, 0.95 * updated, `HOT updates of ${table}`)
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Counts the updates of tables since the database was created. */
const countAll = Effect.fnUntraced(function*(tables: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  // Otherwise the session reports at most once per second.
  yield* sql`SELECT pg_stat_force_next_flush()`
  const rows = yield* Effect.flatMap(
    sql`
      SELECT relname AS table, n_tup_upd::int4 AS updated, n_tup_hot_upd::int4 AS "inPlace"
      FROM pg_stat_user_tables
      WHERE ${sql.in("relname", tables)}
    `,
    Schema.decodeUnknownEffect(Counts)
  )
  return new Map(rows.map(({ table, ...counts }) => [table, counts]))
})

const Counts = Schema.Array(Schema.Struct({ table: Schema.String, updated: Schema.Int, inPlace: Schema.Int }))
