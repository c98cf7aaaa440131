/** Adds amounts to counters. */
import { Rows } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type * as Counter from "../counter.ts"
import { counterTable } from "./counterTable.ts"

/** Adds amounts by the rule of `Counter.add`. `cost` carries the amount, since `used` of a new row cannot be negative. */
export const addToCounters = (
  sql: SqlClient.SqlClient,
  kind: Counter.PeriodKind,
  amounts: ReadonlyArray<Counter.Amount>
) =>
  sql`
    INSERT INTO ${counterTable(sql, kind)} AS counter (period, key, used, takes, cost, maximum, granted)
    SELECT period, key, GREATEST(amount, 0), 0, amount, 0, 0
    FROM ${amountRows(amounts)}
    ORDER BY place
    ON CONFLICT (period, key) DO UPDATE
    SET used = GREATEST(counter.used + excluded.cost, 0)
  `.pipe(Effect.asVoid)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const amountRows = (amounts: ReadonlyArray<Counter.Amount>) =>
  Rows.table("added", amounts, {
    ...Rows.fields({ period: "int4", key: "text", amount: "int8" })
  }, { place: "place" })
