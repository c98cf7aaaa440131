/** Locks accounts. */
import { DatabaseTime, Rows } from "@kinora/persistence"
import { Clock, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"

/**
 * Locks the accounts that exist, in the order of their ids. Returns their number, and how far the clock of the database is
 * ahead of the host's, in milliseconds.
 */
export const lockAccounts = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) {
    const sentAt = yield* Clock.currentTimeMillis
    const locked = yield* lockExisting(sql, accounts)
    return { count: locked.length, aheadMillis: aheadOf(locked, sentAt) }
  }
)

/**
 * Creates the accounts that are missing. If others are locked, this can deadlock with a unit that does the reverse. The
 * database then aborts one of the two, and its unit runs again.
 */
export const createAccounts = (sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) =>
  sql`
    INSERT INTO ledger_account ${Rows.unnest(accounts, { id: ["text", (id) => id] })}
    ORDER BY id
    ON CONFLICT (id) DO NOTHING
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const lockExisting = (sql: SqlClient.SqlClient, accounts: ReadonlyArray<string>) =>
  Effect.flatMap(DatabaseTime.now, (now) =>
    decodeRows(sql`
    SELECT (extract(epoch FROM ${now}) * 1000)::float8 AS now
    FROM ledger_account
    WHERE id = ANY(${Rows.array("text", accounts, { unknownLength: true })})
    ORDER BY id
    FOR UPDATE
  `))

const decodeRows = Rows.decodeAll(Schema.Struct({ now: Schema.Finite }))

/** The time of a statement is that of its start, so waiting for locks does not change the difference. */
const aheadOf = (locked: ReadonlyArray<{ readonly now: number }>, sentAt: number): number =>
  locked[0] === undefined ? 0 : Math.round(locked[0].now - sentAt)
