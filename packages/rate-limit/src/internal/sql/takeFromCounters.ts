/** Grants demands. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import * as Counter from "../counter.ts"
import { millisAt, periodAt } from "./clock.ts"
import { counterTable } from "./counterTable.ts"
import { grantedOf } from "./grantedOf.ts"
import { demandRows } from "./rows.ts"

/**
 * Grants demands on the counters of the current period by the rule of `Counter.take` in one statement. A row in conflict is
 * locked and read in its newest version, regardless of the snapshot of the statement,
 * so concurrent statements cannot exceed a limit.
 */
export const takeFromCounters = (
  sql: SqlClient.SqlClient,
  kind: Counter.PeriodKind,
  demands: ReadonlyArray<Counter.Demand>
) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    decodeRows(sql`
    INSERT INTO ${counterTable(sql, kind)} AS counter (period, key, used, takes, cost, maximum, granted)
    -- Times are in subqueries, which are evaluated once instead of per row.
    SELECT (SELECT ${periodAt(kind, now)}), key, granted * cost, takes, cost, maximum, granted
    FROM ${demandRows(demands)},
    LATERAL (SELECT ${grantedOf(sql, "0", "demand")} AS granted) AS first
    ORDER BY place
    ON CONFLICT (period, key) DO UPDATE
    SET used = counter.used + excluded.cost * ${grantedOf(sql, "counter.used", "excluded")},
      takes = excluded.takes,
      cost = excluded.cost,
      maximum = excluded.maximum,
      granted = ${grantedOf(sql, "counter.used", "excluded")}
    RETURNING period, key, used::float8, granted, (SELECT ${millisAt(now)}) AS at
  `)).pipe(
      Effect.map((grants) =>
        grants.map((grant) => ({ ...grant, endsAt: Counter.endOf(Counter.windows[kind], grant.period) }))
      )
    )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const GrantRow = Schema.Struct({
  period: Schema.Int,
  key: Schema.String,
  used: Schema.Int,
  granted: Schema.Int,
  at: Schema.Finite
})

const decodeRows = Rows.decodeAll(GrantRow)
