/** Statements on accounts. */
import { Rows } from "@kinora/persistence"
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type Account, AccountId, type AccountStatus, emailKey, erasedEmail } from "../../Account.ts"
import type { AccountQuery } from "../../AccountStore.ts"
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
  `.pipe(decodeAccounts, Rows.first(toAccount))

/** Finds an account by the key of its e-mail address. */
export const findAccountByEmail = (sql: SqlClient.SqlClient, emailKey: string) =>
  sql`
    SELECT ${accountColumns(sql)}
    FROM accounts_account account ${planJoins(sql)}
    WHERE account.email_key = ${emailKey}
  `.pipe(decodeAccounts, Rows.first(toAccount))

/** Lists accounts, newest first. Reads all accounts if few match, since no index finds a part of an address. */
export const listAccounts = (
  sql: SqlClient.SqlClient,
  { before, emailKeyPart, limit, status }: AccountQuery
) =>
  sql`
    SELECT ${accountColumns(sql)}
    FROM accounts_account account ${planJoins(sql)}
    WHERE ${
    sql.and([
      sql`strpos(account.email_key, ${emailKeyPart}) > 0`,
      ...(status === undefined ? [] : [sql`account.status = ${status}`]),
      ...(before === undefined ? [] : [sql`account.id < ${AccountId.toUuid(before)}`])
    ])
  }
    ORDER BY account.id DESC
    LIMIT ${limit}
  `.pipe(decodeAccounts, Effect.map((rows) => rows.map(toAccount)))

/** Locks an account until the transaction ends, and returns it. */
export const lockAccount = (sql: SqlClient.SqlClient, id: AccountId) =>
  Rows.lockById(sql, "accounts_account", AccountId.toUuid(id), findAccount(sql, id))

/**
 * Sets the address of an account, unless another account has it. In a transaction of its own, nested in that of the
 * unit: an account with the address that another unit inserts meanwhile is only noticed as a violation.
 */
export const updateEmail = (sql: SqlClient.SqlClient, id: AccountId, email: string) =>
  sql.withTransaction(sql`
    UPDATE accounts_account SET email = ${email}, email_key = ${emailKey(email)} WHERE id = ${AccountId.toUuid(id)}
  `).pipe(
    Effect.as(true),
    Effect.catchIf(({ reason }) => reason._tag === "UniqueViolation", () => Effect.succeed(false))
  )

/** Sets the status of an account, and when it was deleted. */
export const updateStatus = (
  sql: SqlClient.SqlClient,
  id: AccountId,
  status: AccountStatus,
  deletedAt: DateTime.Utc | undefined
) =>
  sql`
    UPDATE accounts_account
    SET status = ${status}, deleted_at = ${deletedAt === undefined ? null : DateTime.toDate(deletedAt)}
    WHERE id = ${AccountId.toUuid(id)}
  `.pipe(Effect.asVoid)

/** Sets an account to `erased`, and deletes its keys with their lines. */
export const erase = (sql: SqlClient.SqlClient, id: AccountId) => {
  const email = erasedEmail(id)
  return sql`
    WITH key AS (
      DELETE FROM accounts_key WHERE account = ${AccountId.toUuid(id)}
    ), line AS (
      DELETE FROM accounts_key_line WHERE account = ${AccountId.toUuid(id)}
    )
    UPDATE accounts_account SET status = 'erased', email = ${email}, email_key = ${emailKey(email)}
    WHERE id = ${AccountId.toUuid(id)}
  `.pipe(Effect.asVoid)
}

/** Finds deleted accounts that are not erased, oldest deletion first. */
export const findDeleted = (sql: SqlClient.SqlClient, before: DateTime.Utc, limit: number) =>
  sql`
    SELECT id
    FROM accounts_account
    WHERE status = 'deleted' AND deleted_at < ${DateTime.toDate(before)}
    ORDER BY deleted_at
    LIMIT ${limit}
  `.pipe(decodeIds, Effect.map((rows) => rows.map(({ id }) => AccountId.fromUuid(id))))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeIds = Rows.decodeAll(Schema.Struct({ id: Schema.String }))
