/** Locks accounts. */
import { Rows } from "@kinora/persistence"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Locks the accounts in the order of their ids, after creating those that are missing.
 *
 * Creating an account while others are locked can deadlock with a unit that does the
 * reverse. The database then aborts one of the two, and its unit runs again.
 */
export const lockAccounts = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) {
    const locked = yield* lockExisting(sql, accounts)
    if (locked.length === accounts.length) return
    yield* create(sql, accounts)
    yield* lockExisting(sql, accounts)
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const lockExisting = (sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) =>
  sql`
    SELECT id
    FROM ledger_account
    WHERE id = ANY(${Rows.array("text", accounts)})
    ORDER BY id
    FOR UPDATE
  `

const create = (sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) =>
  sql`
    INSERT INTO ledger_account ${Rows.unnest(accounts, { id: ["text", (id) => id] })}
    ORDER BY id
    ON CONFLICT (id) DO NOTHING
  `
