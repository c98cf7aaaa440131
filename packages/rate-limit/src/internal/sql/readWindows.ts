/** Reads windows. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Counter from "../counter.ts"
import * as Windows from "../windows.ts"
import { millisAt } from "./clock.ts"
import { wantedRows } from "./rows.ts"
import { countsOf } from "./windowCounts.ts"

/** Returns the counters of windows, one per key, as a hit at the current time sees them. */
export const readWindows = (sql: SqlClient.SqlClient, counters: ReadonlyArray<Counter.Counted>) => {
  const windowByKey = new Map(counters.map(({ key, window }) => [key, window]))
  return Effect.flatMap(DatabaseTime.now, (now) =>
    decodeRows(sql`
      SELECT wanted.key, counter.period, counter.counts, (SELECT ${millisAt(now)}) AS at
      FROM ${wantedRows(counters)}
      LEFT JOIN LATERAL (
        SELECT period::float8 AS period, array_to_string(counts, ',') AS counts
        FROM rate_limit_window AS stored
        WHERE stored.key = wanted.key
      ) AS counter ON true
    `)).pipe(Effect.map((rows) =>
      rows.map(({ at, counts, key, period }) => {
        const window = windowByKey.get(key)!
        const current = Counter.periodOf(window, at)
        const stored = period === null || counts === null
          ? Windows.empty(window, current)
          : Windows.moved(countsOf({ period, counts }), current)
        return Windows.currentOf({ key, window }, stored, at)
      })
    ))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const WindowRow = Schema.Struct({
  key: Schema.String,
  period: Schema.NullOr(Schema.Int),
  counts: Schema.NullOr(Schema.String),
  at: Schema.Finite
})

const decodeRows = Rows.decodeAll(WindowRow)
