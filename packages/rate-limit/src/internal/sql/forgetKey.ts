/** Deletes the counters and the leases of a key. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CounterKind, PeriodKind } from "../counter.ts"
import { counterTable } from "./counterTable.ts"

/** Deletes up to `limit` rows of a key. Waits for locked ones. Returns the number of deleted rows. */
export const forgetKey = (sql: SqlClient.SqlClient, kind: CounterKind | "place", key: string, limit: number) =>
  Effect.map(deleteRows(sql, kind, key, limit), (rows) => rows.length)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const deleteRows = (sql: SqlClient.SqlClient, kind: CounterKind | "place", key: string, limit: number) => {
  if (kind === "place") return deleteLeases(sql, key, limit)
  return kind === "minute" || kind === "day"
    ? deleteCounters(sql, kind, key, limit)
    : sql`DELETE FROM ${sql(`rate_limit_${kind}`)} WHERE key = ${key} RETURNING 1`
}

/**
 * The index begins with the period, so the statement finds the periods of the table one by one, of which a sweep leaves few,
 * and looks the key up in each. It does not read the counters of other keys.
 */
const deleteCounters = (sql: SqlClient.SqlClient, kind: PeriodKind, key: string, limit: number) => {
  const table = counterTable(sql, kind)
  return sql`
    DELETE FROM ${table}
    WHERE key = ${key} AND period = ANY(ARRAY(
      WITH RECURSIVE known AS (
        SELECT min(period) AS period FROM ${table}
        UNION ALL
        SELECT (SELECT min(later.period) FROM ${table} AS later WHERE later.period > known.period)
        FROM known
        WHERE known.period IS NOT NULL
      )
      SELECT own.period
      FROM known
      CROSS JOIN LATERAL (
        SELECT counter.period
        FROM ${table} AS counter
        WHERE counter.period = known.period AND counter.key = ${key}
        FOR UPDATE
      ) AS own
      LIMIT ${limit}
    ))
    RETURNING 1
  `
}

const deleteLeases = (sql: SqlClient.SqlClient, key: string, limit: number) =>
  sql`
    DELETE FROM rate_limit_place
    WHERE id = ANY(ARRAY(
      SELECT id FROM rate_limit_place WHERE key = ${key} ORDER BY id LIMIT ${limit} FOR UPDATE
    ))
    RETURNING 1
  `
