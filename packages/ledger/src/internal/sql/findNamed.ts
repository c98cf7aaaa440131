/** Finds transactions by name. */
import { Rows } from "@kinora/persistence"
import type { SqlClient } from "effect/sql"
import type { TransactionName } from "../stored.ts"
import { decodeTransactions, transactionColumns } from "./transactionRow.ts"

/** Finds the transactions of these names, with their entries. */
export const findNamed = (sql: SqlClient.SqlClient, names: ReadonlyArray<TransactionName>) => {
  const named = Rows.table("name", names, {
    ...Rows.fields({ account: "text", reference: "text", kind: "text" })
  })
  return sql`
    SELECT ${transactionColumns(sql)}
    FROM ${named}
    JOIN ledger_transaction AS booked USING (account, reference, kind)
  `.pipe(decodeTransactions)
}
