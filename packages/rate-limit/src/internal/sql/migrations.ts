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

/**
 * Stores leases by the rule of `Lease.acquire`, in one statement. Each statement inside of the function reads what was committed
 * before it began, so those after the lock read the leases of earlier holders of the lock.
 */
const acquirePlaces = Migrations.statements((sql) => [
  sql`
    CREATE FUNCTION rate_limit_acquire_places(
      new_ids uuid[], new_keys text[], new_lasts float8[], maximums int4[], asked_at timestamptz
    ) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
    DECLARE
      acquired_at timestamptz;
      request record;
      counted_key text;
      held int4;
      granted uuid[] := '{}';
    BEGIN
      -- A key without leases has no row to lock, so the lock is on a hash of the key. If two keys have the same hash,
      -- they only wait for each other.
      PERFORM pg_advisory_xact_lock(lock)
      FROM (
        SELECT DISTINCT hashtextextended('rate_limit_place:' || wanted, 0) AS lock
        FROM unnest(new_keys) AS wanted
        ORDER BY lock
      ) AS locks;
      -- The time after the lock, unless a test determines the time.
      acquired_at := CASE WHEN asked_at = statement_timestamp() THEN clock_timestamp() ELSE asked_at END;
      FOR request IN
        SELECT wanted.*
        FROM unnest(new_ids, new_keys, maximums) WITH ORDINALITY AS wanted (id, key, maximum, place)
        ORDER BY wanted.key, wanted.place
      LOOP
        IF counted_key IS DISTINCT FROM request.key THEN
          counted_key := request.key;
          SELECT count(*) INTO held FROM rate_limit_place AS lease
          WHERE lease.key = counted_key AND lease.expires_at > acquired_at;
        END IF;
        IF held < request.maximum THEN
          held := held + 1;
          granted := granted || request.id;
        END IF;
      END LOOP;
      INSERT INTO rate_limit_place (id, key, expires_at)
      SELECT wanted.id, wanted.key, acquired_at + wanted.lasts * interval '1 millisecond'
      FROM unnest(new_ids, new_keys, new_lasts) AS wanted (id, key, lasts)
      WHERE wanted.id = ANY(granted);
      RETURN QUERY SELECT unnest(granted);
    END
    $$
  `
])

/** The expiry of a row, and the last demand on it. */
const demandColumns = `expires_at timestamptz NOT NULL,
      takes int4 NOT NULL,
      cost int8 NOT NULL,
      maximum int8 NOT NULL,
      granted int4 NOT NULL CHECK (granted BETWEEN 0 AND takes)`

/**
 * Counts of windows of any length, one row per key, so that one statement sees all parts of a window. `counts` are those
 * of `Windows.Counts`. UNLOGGED, as the table of minutes.
 */
const windows = Migrations.statements((sql) => [
  sql`
    CREATE UNLOGGED TABLE rate_limit_window (
      key text COLLATE "C" PRIMARY KEY CHECK (length(key) <= 300),
      period int8 NOT NULL,
      counts int8[] NOT NULL,
      ${sql.literal(demandColumns)}
    ) WITH (fillfactor = 60)
  `,
  sql`CREATE INDEX rate_limit_window_expires_at ON rate_limit_window (expires_at)`
])

/** Token buckets, one row per key, as `Buckets.Bucket`. `length` is that of the window in milliseconds. UNLOGGED, as the table of minutes. */
const buckets = Migrations.statements((sql) => [
  sql`
    CREATE UNLOGGED TABLE rate_limit_bucket (
      key text COLLATE "C" PRIMARY KEY CHECK (length(key) <= 300),
      length int8 NOT NULL,
      missing int8 NOT NULL CHECK (missing >= 0),
      filled_at int8 NOT NULL,
      ${sql.literal(demandColumns)}
    ) WITH (fillfactor = 60)
  `,
  sql`CREATE INDEX rate_limit_bucket_expires_at ON rate_limit_bucket (expires_at)`
])

/** The migrations by name. */
export const migrations = {
  "0001_counters_and_places": createTables,
  "0002_room_for_updates": roomForUpdates,
  "0003_acquire_places": acquirePlaces,
  "0004_windows": windows,
  "0005_buckets": buckets
}
