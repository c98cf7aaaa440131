/** Rows of transactions with their entries. */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { Transaction } from "../../Transaction.ts"
import { TransactionId } from "../ids.ts"
import type { Metadata } from "../metadata.ts"
import { toBook } from "./bookText.ts"

/**
 * The reference of a transaction in the table. A refund of a part has the reference of the charge, a line feed and the
 * reference of the part. So the unique key of transactions covers parts, and its index finds all refunds of a charge.
 */
export const storedReference = ({ part, reference }: Pick<Transaction, "reference" | "part">): string =>
  part === undefined ? reference : `${reference}\n${part}`

/** Compares the stored reference of `booked` with a text. True if it is the text, or that of a refund of a part. */
export const hasReference = (sql: SqlClient.SqlClient, reference: Statement.Fragment) =>
  // The range is for the index on references. It includes other references, since control characters are allowed.
  sql`(
    booked.reference >= ${reference} AND booked.reference < ${reference} || chr(11)
    AND (booked.reference = ${reference} OR starts_with(booked.reference, ${reference} || chr(10)))
  )`

/**
 * The columns of `TransactionRow` that rules read, selected from a `ledger_transaction` that is named `booked`. They do not
 * read `metadata`, which can be long.
 */
export const transactionColumns = (sql: SqlClient.SqlClient) =>
  sql`
    id, account, kind, reference, at, amount::float8 AS amount, reverses, (
      SELECT coalesce(
        jsonb_agg(jsonb_build_object('from', from_book, 'to', to_book, 'amount', entry.amount) ORDER BY line),
        '[]'
      )
      FROM ledger_entry AS entry
      WHERE entry.transaction_id = booked.id
    ) AS entries
  `

/** Decodes the transactions of rows, or of rows as JSON. */
export const decodeTransactions = (
  rows: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<Transaction>, Schema.SchemaError> =>
  Effect.map(decodeRows(rows), (rows) => rows.map(toTransaction))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** int8 columns are read as float8, which is exact up to 2^53. Entries are in the order of their lines. */
const TransactionRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  kind: Schema.Literals(["grant", "charge", "refund", "expire", "hold", "release"]),
  reference: Schema.String,
  at: Rows.timestamptz,
  amount: Schema.Int,
  reverses: Schema.NullOr(Schema.String),
  metadata: Schema.optionalKey(Schema.NullOr(Schema.Json)),
  entries: Schema.Array(Schema.Struct({ from: Schema.String, to: Schema.String, amount: Schema.Int }))
})

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(TransactionRow))

const toTransaction = (row: typeof TransactionRow.Type): Transaction => {
  const [reference, part] = row.reference.split("\n")
  return {
    ...row,
    id: TransactionId.fromUuid(row.id),
    reference: reference!, // the result of `split` is not empty
    part,
    reverses: row.reverses === null ? undefined : TransactionId.fromUuid(row.reverses),
    metadata: (row.metadata ?? undefined) as Metadata | undefined, // the table has only objects
    entries: row.entries.map(({ amount, from, to }) => ({ from: toBook(from), to: toBook(to), amount }))
  }
}
