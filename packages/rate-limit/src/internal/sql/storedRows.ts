/** Reads the rows of keys. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Effect, type Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type * as Counter from "../counter.ts"
import { millisAt } from "./clock.ts"
import { wantedRows } from "./rows.ts"

/**
 * Creates a function that returns the rows of keys in a table, one per key, with the current time as `at`. The columns of a key
 * without a row are null. Names and expressions are parts of the statement: pass constants only.
 */
export const makeStoredRows = <Row>(table: string, columns: string, row: Schema.Codec<Row, unknown>) => {
  const decodeRows = Rows.decodeAll(row)
  return (sql: SqlClient.SqlClient, counters: ReadonlyArray<Counter.Counted>) =>
    Effect.flatMap(DatabaseTime.now, (now) =>
      decodeRows(sql`
        SELECT wanted.key, found.*, (SELECT ${millisAt(now)}) AS at
        FROM ${wantedRows(counters)}
        LEFT JOIN LATERAL (
          SELECT ${sql.literal(columns)}
          FROM ${sql.literal(table)} AS stored
          WHERE stored.key = wanted.key
        ) AS found ON true
      `))
}
