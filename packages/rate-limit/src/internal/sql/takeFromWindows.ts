/** Grants demands on windows. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type * as Counter from "../counter.ts"
import * as Windows from "../windows.ts"
import { millisAt } from "./clock.ts"
import { grantedOf } from "./grantedOf.ts"
import { demandColumns, demandRows } from "./rows.ts"
import { countsOf } from "./windowCounts.ts"

/**
 * Grants demands by the rule of `Windows.take` in one statement, whatever the lengths of their windows. A row in conflict is
 * locked and read in its newest version, as in `takeFromCounters.ts`. `kept` are the counts of `Windows.moved`.
 */
export const takeFromWindows = (sql: SqlClient.SqlClient, demands: ReadonlyArray<Counter.Demand>) => {
  const windowByKey = new Map(demands.map(({ key, window }) => [key, window]))
  return Effect.flatMap(DatabaseTime.now, (now) =>
    decodeRows(sql`
    INSERT INTO rate_limit_window AS counter (key, period, counts, expires_at, takes, cost, maximum, granted)
    SELECT
      key,
      period,
      array_fill(0::int8, ARRAY[size - 1]) || granted * cost,
      to_timestamp((period / parts + CASE parts WHEN 1 THEN 1 ELSE 2 END) * (length / 1000.0)),
      takes,
      cost,
      maximum,
      granted
    FROM ${demandRows(demands, windowColumns)},
    LATERAL (
      SELECT floor((SELECT extract(epoch FROM ${now}) * 1000) * parts / length)::int8 AS period
    ) AS current,
    LATERAL (SELECT ${grantedOf(sql, "0", "demand")} AS granted) AS first
    ORDER BY place
    ON CONFLICT (key) DO UPDATE
    SET (period, counts, granted) = (
        SELECT
          counter.period + past,
          kept[:cardinality(kept) - 1] || kept[cardinality(kept)] + fitting.granted * excluded.cost,
          fitting.granted
        FROM (SELECT GREATEST(excluded.period - counter.period, 0) AS past) AS passed,
        LATERAL (SELECT LEAST(past, cardinality(counter.counts))::int4 AS removed) AS ended,
        LATERAL (
          SELECT counter.counts[removed + 1:] || array_fill(0::int8, ARRAY[removed]) AS kept
        ) AS moved,
        LATERAL (SELECT sum(count)::int8 AS used FROM unnest(kept) AS count) AS seen,
        LATERAL (SELECT ${grantedOf(sql, "used", "excluded")} AS granted) AS fitting
      ),
      expires_at = GREATEST(counter.expires_at, excluded.expires_at),
      takes = excluded.takes,
      cost = excluded.cost,
      maximum = excluded.maximum
    RETURNING key, period::float8, array_to_string(counts, ',') AS counts, granted, (SELECT ${millisAt(now)}) AS at
  `)).pipe(Effect.map((rows) =>
      rows.map(({ at, granted, key, ...row }): Counter.Grant => {
        const window = windowByKey.get(key)!
        return { ...Windows.currentOf({ key, window }, countsOf(row), at), granted }
      })
    ))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const windowColumns: Rows.Columns<Counter.Demand> = {
  ...demandColumns,
  length: ["int8", ({ window }) => window.length],
  parts: ["int4", ({ window }) => window.parts],
  size: ["int4", ({ window }) => Windows.sizeOf(window)]
}

const GrantRow = Schema.Struct({
  key: Schema.String,
  period: Schema.Int,
  counts: Schema.String,
  granted: Schema.Int,
  at: Schema.Finite
})

const decodeRows = Rows.decodeAll(GrantRow)
