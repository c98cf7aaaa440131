/** Deletes counters of past periods. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { PeriodKind } from "../counter.ts"
import { counterTable } from "./counterTable.ts"

/** Deletes up to `limit` counters of periods before `period`. Skips counters that another process deletes. */
export const sweepCounters = (sql: SqlClient.SqlClient, kind: PeriodKind, period: number, limit: number) =>
  sql`
    DELETE FROM ${counterTable(sql, kind)}
    WHERE (period, key) IN (
      SELECT period, key
      FROM ${counterTable(sql, kind)}
      WHERE period < ${period}
      ORDER BY period, key
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    )
    RETURNING 1
  `.pipe(Effect.map((rows) => rows.length))
