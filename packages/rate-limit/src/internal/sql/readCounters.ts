/** Reads counters. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Counter from "../counter.ts"
import { millisAt, periodAt } from "./clock.ts"
import { counterTable } from "./counterTable.ts"
import { wantedRows } from "./rows.ts"

/**
 * Returns the counters of the current period, one per key. The subquery looks each key up by the index. A join would be
 * planned for the average period, and read all counters of this one.
 */
export const readCounters = (
  sql: SqlClient.SqlClient,
  kind: Counter.PeriodKind,
  counters: ReadonlyArray<Counter.Counted>
) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    decodeRows(sql`
      WITH current AS MATERIALIZED (SELECT ${periodAt(kind, now)} AS period, ${millisAt(now)} AS at)
      SELECT
        current.period,
        wanted.key,
        coalesce(
          (
            SELECT used
            FROM ${counterTable(sql, kind)} AS counter
            WHERE counter.period = current.period AND counter.key = wanted.key
          ),
          0
        )::float8 AS used,
        current.at
      FROM current
      CROSS JOIN ${wantedRows(counters)}
    `)).pipe(
      Effect.map((found) => found.map((one) => ({ ...one, endsAt: Counter.endOf(Counter.windows[kind], one.period) })))
    )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const CurrentRow = Schema.Struct({
  period: Schema.Int,
  key: Schema.String,
  used: Schema.Int,
  at: Schema.Finite
})

const decodeRows = Rows.decodeAll(CurrentRow)
