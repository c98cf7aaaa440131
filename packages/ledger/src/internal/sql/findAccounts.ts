/** Lists accounts. */
import { Rows } from "@kinora/persistence"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"

/** Finds ids of accounts after one, in order, without the new names of those that are being forgotten. */
export const findAccounts = (sql: SqlClient.SqlClient, after: string, limit: number) =>
  sql`
    SELECT id
    FROM ledger_account AS found
    WHERE id > ${after} AND NOT EXISTS (SELECT FROM ledger_forgetting AS forgetting WHERE forgetting.name = found.id)
    ORDER BY id
    LIMIT ${limit}
  `.pipe(decodeRows, Effect.map((rows) => rows.map(({ id }) => id)))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const AccountRow = Schema.Struct({ id: Schema.String })

const decodeRows = Rows.decodeAll(AccountRow)
