/** The tables of counters and places. */
import * as Migrations from "@kinora/persistence/Migrations"

// `takes`, `cost`, `maximum` and `granted` are the latest demand and its result. ON
// CONFLICT can only use the existing row and the row to insert, and RETURNING only the
// stored row, so the inputs and the result have to be columns.
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

const createTables = Migrations.statements((sql) => [
  // UNLOGGED, so that a commit does not wait for the disk. A crash of the database empties
  // the tables: a minute accepts its limit once more, and the next renewal restores places.
  sql`CREATE UNLOGGED TABLE rate_limit_minute (${sql.literal(counterColumns)})`,
  sql`
    CREATE UNLOGGED TABLE rate_limit_place (
      id uuid PRIMARY KEY,
      key text COLLATE "C" NOT NULL CHECK (length(key) <= 256),
      expires_at timestamptz NOT NULL
    )
  `,
  sql`CREATE INDEX rate_limit_place_key ON rate_limit_place (key, expires_at)`,
  sql`CREATE INDEX rate_limit_place_expires_at ON rate_limit_place (expires_at)`,
  // Logged, since a budget may be worth money. It is taken in blocks, not per request.
  sql`CREATE TABLE rate_limit_day (${sql.literal(counterColumns)})`
])

/** Room in each page, so that an update of a counter changes no index. It applies to pages that are written from now on. */
const roomForUpdates = Migrations.statements((sql) => [
  sql`ALTER TABLE rate_limit_minute SET (fillfactor = 60)`,
  sql`ALTER TABLE rate_limit_day SET (fillfactor = 60)`
])

/** The migrations by name. */
export const migrations = { "0001_counters_and_places": createTables, "0002_room_for_updates": roomForUpdates }
