/** The tables of counters and places. */
import type { Migrations } from "@kinora/persistence/Migrations"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

// `takes`, `cost`, `maximum` and `granted` are the newest demand and its answer:
// ON CONFLICT sees nothing but the row and the row that was to be inserted, so
// what it computes with and what it answers have to be columns.
const counterColumns = `
  period int4 NOT NULL,
  key text COLLATE "C" NOT NULL CHECK (length(key) <= 256),
  used int8 NOT NULL CHECK (used >= 0),
  takes int4 NOT NULL,
  cost int8 NOT NULL,
  maximum int8 NOT NULL,
  granted int4 NOT NULL CHECK (granted BETWEEN 0 AND takes),
  PRIMARY KEY (period, key)
`

const createTables = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // UNLOGGED: a commit does not wait for the disk. After a crash of the database
  // the tables are empty. For a minute's counters that means at most one more
  // minute's worth of requests; places come back with the next renewal.
  yield* sql`CREATE UNLOGGED TABLE rate_limit_minute (${sql.literal(counterColumns)})`
  yield* sql`
    CREATE UNLOGGED TABLE rate_limit_place (
      id uuid PRIMARY KEY,
      key text COLLATE "C" NOT NULL CHECK (length(key) <= 256),
      expires_at timestamptz NOT NULL
    )
  `
  yield* sql`CREATE INDEX rate_limit_place_key ON rate_limit_place (key, expires_at)`
  yield* sql`CREATE INDEX rate_limit_place_expires_at ON rate_limit_place (expires_at)`
  // Logged: a day's budget is worth money, and it is taken in blocks, not per request.
  yield* sql`CREATE TABLE rate_limit_day (${sql.literal(counterColumns)})`
})

export const migrations: Migrations = {
  namespace: "rate_limit",
  migrations: { "0001_counters_and_places": createTables }
}
