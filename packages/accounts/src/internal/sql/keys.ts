/** Statements on API keys. */
import { Rows } from "@kinora/persistence"
import { Array as Arr, DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { AccountId } from "../../Account.ts"
import { type ApiKey, KeyId } from "../../ApiKey.ts"

/** Counts the keys of an account that are not revoked. */
export const countKeys = (sql: SqlClient.SqlClient, account: AccountId) =>
  sql`
    SELECT count(*)::int4 AS count
    FROM accounts_key
    WHERE account = ${AccountId.toUuid(account)} AND revoked_at IS NULL
  `.pipe(
    decodeCount,
    // An aggregate without GROUP BY returns exactly one row.
    Effect.map(([row]) => row!.count)
  )

/** Inserts a key. */
export const insertKey = (sql: SqlClient.SqlClient, key: ApiKey, hash: string) =>
  sql`
    INSERT INTO accounts_key (id, account, name, hash, prefix, created_at)
    VALUES (
      ${KeyId.toUuid(key.id)}, ${AccountId.toUuid(key.account)}, ${key.name}, ${hash}, ${key.prefix},
      ${DateTime.toDate(key.createdAt)}
    )
  `.pipe(Effect.asVoid)

/** Lists keys of an account, revoked ones last, newest first. */
export const listKeys = (sql: SqlClient.SqlClient, account: AccountId, limit: number) =>
  sql`
    SELECT ${keyColumns(sql)}
    FROM accounts_key
    WHERE account = ${AccountId.toUuid(account)}
    ORDER BY revoked_at IS NOT NULL, id DESC
    LIMIT ${limit}
  `.pipe(decodeKeys, Effect.map((rows) => rows.map(toKey)))

/** Revokes a key of an account, if it exists. A revoked key does not change. */
export const revokeKey = (sql: SqlClient.SqlClient, account: AccountId, key: KeyId, at: DateTime.Utc) =>
  sql`
    UPDATE accounts_key SET revoked_at = coalesce(revoked_at, ${DateTime.toDate(at)})
    WHERE id = ${KeyId.toUuid(key)} AND account = ${AccountId.toUuid(account)}
    RETURNING ${keyColumns(sql)}
  `.pipe(decodeKeys, Effect.map((rows) => Option.map(Arr.head(rows), toKey)))

/** Deletes keys that were revoked before `before`. SKIP LOCKED, so that sweeps of several hosts do not wait for each other. */
export const deleteRevokedKeys = (
  sql: SqlClient.SqlClient,
  before: DateTime.Utc,
  limit: number
): Statement.Statement<unknown> =>
  sql`
    DELETE FROM accounts_key
    WHERE id = ANY(ARRAY(
      SELECT id
      FROM accounts_key
      WHERE revoked_at < ${DateTime.toDate(before)}
      ORDER BY revoked_at
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyColumns = (sql: SqlClient.SqlClient) =>
  sql.literal("id, account, name, prefix, created_at, last_used_at, revoked_at")

const decodeCount = Rows.decodeAll(Schema.Struct({ count: Schema.Int }))

const KeyRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  created_at: Schema.DateTimeUtcFromDate,
  last_used_at: Schema.NullOr(Schema.DateTimeUtcFromDate),
  revoked_at: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

const decodeKeys = Rows.decodeAll(KeyRow)

const toKey = (row: typeof KeyRow.Type): ApiKey => ({
  id: KeyId.fromUuid(row.id),
  account: AccountId.fromUuid(row.account),
  name: row.name,
  prefix: row.prefix,
  createdAt: row.created_at,
  lastUsedAt: Option.fromNullOr(row.last_used_at),
  revokedAt: Option.fromNullOr(row.revoked_at)
})
