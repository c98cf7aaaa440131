/** Lists accounts. */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"

/** Finds ids of accounts after one, in order. */
export const findAccounts = (sql: SqlClient.SqlClient, after: string, limit: number) =>
  sql`
    SELECT id
    FROM ledger_account
    WHERE id > ${after}
    ORDER BY id
    LIMIT ${limit}
  `.pipe(decodeRows, Effect.map((rows) => rows.map(({ id }) => id)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const AccountRow = Schema.Struct({ id: Schema.String })

const decodeRows = Rows.decodeAll(AccountRow)
