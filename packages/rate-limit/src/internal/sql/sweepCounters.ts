/** Deletes counters of past periods. */
import { DatabaseTime } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { PeriodKind } from "../counter.ts"
import { periodAt } from "./clock.ts"
import { counterTable } from "./counterTable.ts"

/** Deletes up to `limit` counters of periods before the current one and `kept` more. Skips counters that another process deletes. */
export const sweepCounters = (sql: SqlClient.SqlClient, kind: PeriodKind, kept: number, limit: number) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    sql`
    DELETE FROM ${counterTable(sql, kind)}
    WHERE (period, key) IN (
      SELECT period, key
      FROM ${counterTable(sql, kind)}
      WHERE period < ${periodAt(kind, now)} - ${kept}::int4
      ORDER BY period, key
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    )
    RETURNING 1
  `).pipe(Effect.map((rows) => rows.length))
