/** Sums up the entries of all accounts by class of books. */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { bookClasses, type Moved } from "../trialBalance.ts"

/** Sums up in one statement, which sees all accounts as of one moment. */
export const findMoved = (sql: SqlClient.SqlClient) =>
  sql`
    WITH entry AS (
      SELECT ${classOf(sql, "from_book")} AS "from", ${classOf(sql, "to_book")} AS "to", amount
      FROM ledger_entry
    ), moved AS (
      SELECT "from", "to", sum(amount) AS amount
      FROM entry
      GROUP BY "from", "to"
    )
    SELECT
      (SELECT coalesce(jsonb_agg(moved), '[]') FROM moved) AS moved,
      (SELECT coalesce(sum(amount), 0)::float8 FROM ledger_transaction) AS booked
  `.pipe(decodeRows, Effect.map(([row]): Moved => row!)) // without a FROM, it returns one row

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** `classOf` of `../trialBalance.ts`. */
const classOf = (sql: SqlClient.SqlClient, column: string) =>
  sql.literal(`
    CASE
      WHEN ${column} LIKE 'lot:%' THEN 'remaining'
      WHEN ${column} LIKE 'quota:%' THEN 'used'
      WHEN ${column} LIKE 'source:%' THEN 'granted'
      WHEN ${column} LIKE 'held:%' THEN 'held'
      WHEN ${column} IN ('consumed', 'expired', 'allowance') THEN ${column}
    END
  `)

const BookClass = Schema.NullOr(Schema.Literals(bookClasses))

const decodeRows = Rows.decodeAll(Schema.Struct({
  moved: Schema.Array(Schema.Struct({ from: BookClass, to: BookClass, amount: Schema.Number })),
  booked: Schema.Number
}))
