/** Lists the transactions of an account. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { TransactionId } from "../ids.ts"
import type { TransactionsQuery } from "../stored.ts"
import { decodeTransactions, hasReference, transactionColumns } from "./transactionRow.ts"

/** Finds transactions of an account, newest id first. */
export const findTransactions = (
  sql: SqlClient.SqlClient,
  { account, before, limit, reference }: TransactionsQuery
) =>
  sql`
    SELECT ${transactionColumns(sql)}, metadata
    FROM ledger_transaction AS booked
    WHERE account = ${account}
      AND (${reference ?? null}::text IS NULL OR ${hasReference(sql, sql`${reference ?? null}::text`)})
      AND id < ${before === undefined ? greatestUuid : TransactionId.toUuid(before)}::uuid
    ORDER BY id DESC
    LIMIT ${limit}
  `.pipe(Effect.flatMap(decodeTransactions))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Greater than any UUIDv7, whose variant bits are different. */
const greatestUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff"
