/** Statements on accounts. */
import { Array as Arr, DateTime, Effect, Option } from "effect"
import type { SqlClient } from "effect/sql"
import { type Account, AccountId, type AccountStatus, emailKey } from "../../Account.ts"
import { accountColumns, decodeAccounts, planJoins, toAccount } from "./accountRow.ts"

/** Inserts an account unless its e-mail address is taken. Returns whether it was inserted. */
export const insertAccount = (sql: SqlClient.SqlClient, { createdAt, email, id, status }: Account) =>
  sql`
    INSERT INTO accounts_account (id, email, email_key, status, created_at)
    VALUES (${AccountId.toUuid(id)}, ${email}, ${emailKey(email)}, ${status}, ${DateTime.toDate(createdAt)})
    ON CONFLICT (email_key) DO NOTHING
    RETURNING id
  `.pipe(Effect.map((rows) => rows.length === 1))

/** Finds an account by id. */
export const findAccount = (sql: SqlClient.SqlClient, id: AccountId) =>
  sql`
    SELECT ${accountColumns(sql)}
    FROM accounts_account account ${planJoins(sql)}
    WHERE account.id = ${AccountId.toUuid(id)}
  `.pipe(decodeAccounts, Effect.map(toFirst))

/** Finds an account by the key of its e-mail address. */
export const findAccountByEmail = (sql: SqlClient.SqlClient, emailKey: string) =>
  sql`
    SELECT ${accountColumns(sql)}
    FROM accounts_account account ${planJoins(sql)}
    WHERE account.email_key = ${emailKey}
  `.pipe(decodeAccounts, Effect.map(toFirst))

/** Locks an account until the transaction ends. */
export const lockAccount = (sql: SqlClient.SqlClient, id: AccountId) =>
  sql`SELECT id FROM accounts_account WHERE id = ${AccountId.toUuid(id)} FOR UPDATE`

/** Sets the status of an account. */
export const updateStatus = (sql: SqlClient.SqlClient, id: AccountId, status: AccountStatus) =>
  sql`UPDATE accounts_account SET status = ${status} WHERE id = ${AccountId.toUuid(id)}`.pipe(Effect.asVoid)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const toFirst = (rows: Effect.Success<ReturnType<typeof decodeAccounts>>): Option.Option<Account> =>
  Option.map(Arr.head(rows), toAccount)
