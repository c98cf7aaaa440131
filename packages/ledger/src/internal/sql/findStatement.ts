/** Finds the transactions of a statement. */
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { TransactionId } from "../ids.ts"
import type { FoundStatement, StatementQuery } from "../stored.ts"
import { decodeTransactions, transactionColumns } from "./transactionRow.ts"

/** Finds transactions of a period, in the order of time, and the balance before the first of them, as of one moment. */
export const findStatement = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  { account, after, from, limit, to }: StatementQuery
) {
  const cursor = after === undefined ? null : TransactionId.toUuid(after)
  const [row] = yield* sql`
    WITH cursor AS (
      SELECT at, id FROM ledger_transaction WHERE account = ${account} AND id = ${cursor}::uuid
    ), known AS MATERIALIZED (
      SELECT id, at, at < ${
    DateTime.toDateUtc(from)
  }::timestamptz OR (at, id) <= (SELECT at, id FROM cursor) AS is_earlier
      FROM ledger_transaction
      WHERE account = ${account} AND at < ${DateTime.toDateUtc(to)}::timestamptz
    ), opening AS (
      SELECT
        coalesce(sum(amount) FILTER (WHERE to_book LIKE 'lot:%'), 0)
          - coalesce(sum(amount) FILTER (WHERE from_book LIKE 'lot:%'), 0) AS credits,
        coalesce(sum(amount) FILTER (WHERE to_book LIKE 'held:%'), 0)
          - coalesce(sum(amount) FILTER (WHERE from_book LIKE 'held:%'), 0) AS held
      FROM ledger_entry
      WHERE transaction_id IN (SELECT id FROM known WHERE is_earlier IS TRUE)
    ), line AS (
      SELECT ${transactionColumns(sql)}, metadata
      FROM ledger_transaction AS booked
      WHERE id IN (SELECT id FROM known WHERE is_earlier IS NOT TRUE ORDER BY at, id LIMIT ${limit})
    )
    SELECT credits::float8 AS credits, held::float8 AS held, (
      SELECT coalesce(jsonb_agg(to_jsonb(line) ORDER BY at, id), '[]') FROM line
    ) AS transactions
    FROM opening
  `
  const { credits, held, transactions } = yield* decodeRow(row)
  const found: FoundStatement = { opening: { credits, held }, transactions: yield* decodeTransactions(transactions) }
  return found
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeRow = Schema.decodeUnknownEffect(
  Schema.Struct({ credits: Schema.Int, held: Schema.Int, transactions: Schema.Array(Schema.Unknown) })
)
