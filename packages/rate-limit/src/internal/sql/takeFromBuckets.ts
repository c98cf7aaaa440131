/** Grants demands on token buckets. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Buckets from "../buckets.ts"
import type * as Counter from "../counter.ts"
import { millisAt } from "./clock.ts"
import { grantedOf } from "./grantedOf.ts"
import { demandColumns, demandRows } from "./rows.ts"

/**
 * Grants demands by the rule of `Buckets.take` in one statement. A row in conflict is locked and read in its newest version,
 * as in `takeFromCounters.ts`.
 */
export const takeFromBuckets = (sql: SqlClient.SqlClient, demands: ReadonlyArray<Counter.Demand>) => {
  const demandByKey = new Map(demands.map((demand) => [demand.key, demand]))
  return Effect.flatMap(DatabaseTime.now, (now) =>
    decodeRows(sql`
    INSERT INTO rate_limit_bucket AS bucket
      (key, length, missing, filled_at, expires_at, takes, cost, maximum, granted)
    SELECT
      key,
      length,
      granted * cost * length,
      at,
      to_timestamp((at / length + 2) * (length / 1000.0)),
      takes,
      cost,
      maximum,
      granted
    FROM ${demandRows(demands, bucketColumns)},
    LATERAL (SELECT (SELECT floor(extract(epoch FROM ${now}) * 1000)::int8) AS at) AS current,
    LATERAL (SELECT ${grantedOf(sql, "0", "demand")} AS granted) AS first
    ORDER BY place
    ON CONFLICT (key) DO UPDATE
    SET (missing, filled_at, granted) = (
        SELECT
          filled.missing + fitting.granted * excluded.cost * bucket.length,
          bucket.filled_at + past,
          fitting.granted
        FROM (SELECT GREATEST(excluded.filled_at - bucket.filled_at, 0) AS past) AS passed,
        -- The product can exceed 64 bits.
        LATERAL (SELECT GREATEST(bucket.missing - past::numeric * excluded.maximum, 0)::int8 AS missing) AS filled,
        LATERAL (SELECT (filled.missing + bucket.length - 1) / bucket.length AS used) AS seen,
        LATERAL (SELECT ${grantedOf(sql, "used", "excluded")} AS granted) AS fitting
      ),
      expires_at = GREATEST(bucket.expires_at, excluded.expires_at),
      takes = excluded.takes,
      cost = excluded.cost,
      maximum = excluded.maximum
    RETURNING key, missing::float8, filled_at::float8, granted, (SELECT ${millisAt(now)}) AS at
  `)).pipe(Effect.map((rows) =>
      rows.map(({ at, filled_at, granted, key, missing }): Counter.Grant => ({
        ...Buckets.currentOf(demandByKey.get(key)!, { missing, filledAt: filled_at }, at),
        granted
      }))
    ))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const bucketColumns: Rows.Columns<Counter.Demand> = {
  ...demandColumns,
  length: ["int8", ({ window }) => window.length]
}

const GrantRow = Schema.Struct({
  key: Schema.String,
  missing: Schema.Int,
  filled_at: Schema.Int,
  granted: Schema.Int,
  at: Schema.Finite
})

const decodeRows = Rows.decodeAll(GrantRow)
