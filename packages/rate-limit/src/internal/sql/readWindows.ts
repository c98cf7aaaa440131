/** Reads windows. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Counter from "../counter.ts"
import * as Windows from "../windows.ts"
import { makeStoredRows } from "./storedRows.ts"
import { countsOf } from "./windowCounts.ts"

/** Returns the counters of windows, one per key, as a hit at the current time sees them. */
export const readWindows = (sql: SqlClient.SqlClient, counters: ReadonlyArray<Counter.Counted>) => {
  const windowByKey = new Map(counters.map(({ key, window }) => [key, window]))
  return Effect.map(storedRows(sql, counters), (rows) =>
    rows.map(({ at, counts, key, period }) => {
      const window = windowByKey.get(key)!
      const current = Counter.periodOf(window, at)
      const stored = period === null || counts === null
        ? Windows.empty(window, current)
        : Windows.moved(countsOf({ period, counts }), current)
      return Windows.currentOf({ key, window }, stored, at)
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const storedRows = makeStoredRows(
  "rate_limit_window",
  "period::float8 AS period, array_to_string(counts, ',') AS counts",
  Schema.Struct({
    key: Schema.String,
    period: Schema.NullOr(Schema.Int),
    counts: Schema.NullOr(Schema.String),
    at: Schema.Finite
  })
)
