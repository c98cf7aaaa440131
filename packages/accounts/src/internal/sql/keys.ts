/** Statements on API keys. */
import { Rows } from "@kinora/persistence"
import { Array as Arr, DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { AccountId } from "../../Account.ts"
import { type ApiKey, KeyId } from "../../ApiKey.ts"
import { restrictionsOf, termsColumns, termsFields, toTerms } from "./keyTerms.ts"

/** Counts the keys of an account that are not revoked and have not expired. */
export const countKeys = (sql: SqlClient.SqlClient, account: AccountId, at: DateTime.Utc) =>
  sql`
    SELECT count(*)::int4 AS count
    FROM accounts_key
    WHERE account = ${AccountId.toUuid(account)} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${DateTime.toDate(at)})
  `.pipe(
    decodeCount,
    // An aggregate without GROUP BY returns exactly one row.
    Effect.map(([row]) => row!.count)
  )

/** Inserts a key. */
export const insertKey = (sql: SqlClient.SqlClient, key: ApiKey, hash: string) =>
  sql`
    INSERT INTO accounts_key ${
    Rows.unnest([key], {
      id: ["uuid", ({ id }) => KeyId.toUuid(id)],
      account: ["uuid", ({ account }) => AccountId.toUuid(account)],
      ...Rows.fields({ name: "text", prefix: "text" }),
      hash: ["text", () => hash],
      created_at: ["timestamptz", ({ createdAt }) => createdAt],
      expires_at: ["timestamptz?", ({ terms }) => Option.getOrNull(terms.expiresAt)],
      restrictions: ["jsonb", ({ terms }) => restrictionsOf(terms)]
    })
  }
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

/** Finds a key of an account. */
export const findKey = (sql: SqlClient.SqlClient, account: AccountId, key: KeyId) =>
  sql`
    SELECT ${keyColumns(sql)}
    FROM accounts_key
    WHERE id = ${KeyId.toUuid(key)} AND account = ${AccountId.toUuid(account)}
  `.pipe(decodeKeys, Effect.map((rows) => Option.map(Arr.head(rows), toKey)))

/** Sets when a key expires. */
export const updateExpiry = (sql: SqlClient.SqlClient, key: KeyId, expiresAt: DateTime.Utc) =>
  sql`
    UPDATE accounts_key SET expires_at = ${DateTime.toDate(expiresAt)} WHERE id = ${KeyId.toUuid(key)}
  `.pipe(Effect.asVoid)

/** Revokes a key of an account, if it exists. A revoked key does not change. */
export const revokeKey = (sql: SqlClient.SqlClient, account: AccountId, key: KeyId, at: DateTime.Utc) =>
  sql`
    UPDATE accounts_key SET revoked_at = coalesce(revoked_at, ${DateTime.toDate(at)})
    WHERE id = ${KeyId.toUuid(key)} AND account = ${AccountId.toUuid(account)}
    RETURNING ${keyColumns(sql)}
  `.pipe(decodeKeys, Effect.map((rows) => Option.map(Arr.head(rows), toKey)))

/** Revokes the keys of an account that are not revoked. */
export const revokeKeys = (sql: SqlClient.SqlClient, account: AccountId, at: DateTime.Utc) =>
  sql`
    UPDATE accounts_key SET revoked_at = ${DateTime.toDate(at)}
    WHERE account = ${AccountId.toUuid(account)} AND revoked_at IS NULL
  `.pipe(Effect.asVoid)

/** Deletes keys that were revoked or expired before `before`. SKIP LOCKED, so that sweeps of several hosts do not wait for each other. */
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
      WHERE revoked_at < ${DateTime.toDate(before)} OR expires_at < ${DateTime.toDate(before)}
      ORDER BY least(revoked_at, expires_at)
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ))
    RETURNING 1
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyColumns = (sql: SqlClient.SqlClient) =>
  sql.literal(`id, account, name, prefix, created_at, last_used_at, revoked_at, ${termsColumns}`)

const decodeCount = Rows.decodeAll(Schema.Struct({ count: Schema.Int }))

const KeyRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  created_at: Schema.DateTimeUtcFromDate,
  last_used_at: Schema.NullOr(Schema.DateTimeUtcFromDate),
  revoked_at: Schema.NullOr(Schema.DateTimeUtcFromDate),
  ...termsFields
})

const decodeKeys = Rows.decodeAll(KeyRow)

const toKey = (row: typeof KeyRow.Type): ApiKey => ({
  id: KeyId.fromUuid(row.id),
  account: AccountId.fromUuid(row.account),
  name: row.name,
  prefix: row.prefix,
  terms: toTerms(row),
  createdAt: row.created_at,
  lastUsedAt: Option.fromNullOr(row.last_used_at),
  revokedAt: Option.fromNullOr(row.revoked_at)
})
