/** Reads counters. */
import { Rows } from "@kinora/persistence"
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type * as Counter from "../counter.ts"
import { counterTable } from "./counterTable.ts"

/** Returns the counters that exist. */
export const readCounters = (
  sql: SqlClient.SqlClient,
  kind: Counter.PeriodKind,
  slots: ReadonlyArray<Counter.Slot>
) => {
  const wanted = Rows.table("wanted", slots, {
    ...Rows.fields({ period: "int4", key: "text" })
  })
  return sql`
    SELECT period, key, used::float8
    FROM ${counterTable(sql, kind)}
    WHERE (period, key) IN (SELECT period, key FROM ${wanted})
  `.pipe(decodeRows)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const UsedRow = Schema.Struct({ period: Schema.Int, key: Schema.String, used: Schema.Int })

const decodeRows = Rows.decodeAll(UsedRow)
