/** Statements on API keys. */
import { Rows } from "@kinora/persistence"
import { DateTime, Effect, Option, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { AccountId } from "../../Account.ts"
import { type ApiKey, KeyId } from "../../ApiKey.ts"
import {
  budgetColumns,
  budgetFields,
  budgetMaxColumns,
  budgetMaxFields,
  lineJoin,
  toBudget,
  toBudgetMax
} from "./keyLines.ts"
import { restrictionsOf, termsColumns, termsFields, toTerms } from "./keyTerms.ts"

/** Counts the keys of an account that are not revoked and have not expired. */
export const countKeys = (sql: SqlClient.SqlClient, account: AccountId, at: DateTime.Utc) =>
  sql`
    SELECT count(*)::int4 AS count
    FROM accounts_key
    WHERE account = ${AccountId.toUuid(account)} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > ${DateTime.toDate(at)})
  `.pipe(Rows.decodeCount)

/** Inserts a key without the budget of its line. */
export const insertKey = (sql: SqlClient.SqlClient, key: ApiKey, hash: string) =>
  sql`
    INSERT INTO accounts_key ${
    Rows.unnest([key], {
      id: ["uuid", ({ id }) => KeyId.toUuid(id)],
      account: ["uuid", ({ account }) => AccountId.toUuid(account)],
      line: ["uuid?", ({ id, line }) => line === id ? null : KeyId.toUuid(line)],
      ...Rows.fields({ name: "text", prefix: "text" }),
      hash: ["text", () => hash],
      created_at: ["timestamptz", ({ createdAt }) => createdAt],
      created_by: ["text?", ({ createdBy }) => createdBy],
      expires_at: ["timestamptz?", ({ terms }) => Option.getOrNull(terms.expiresAt)],
      restrictions: ["jsonb", ({ terms }) => restrictionsOf(terms)]
    })
  }
  `.pipe(Effect.asVoid)

/** Lists keys of an account, revoked ones last, newest first. */
export const listKeys = (sql: SqlClient.SqlClient, account: AccountId, limit: number) =>
  sql`
    SELECT ${keyColumns(sql)}
    FROM accounts_key key ${sql.literal(lineJoin)}
    WHERE key.account = ${AccountId.toUuid(account)}
    ORDER BY key.revoked_at IS NOT NULL, key.id DESC
    LIMIT ${limit}
  `.pipe(decodeKeys, Effect.map((rows) => rows.map(toKey)))

/** Finds a key of an account. */
export const findKey = (sql: SqlClient.SqlClient, account: AccountId, key: KeyId) =>
  sql`
    SELECT ${keyColumns(sql)}
    FROM accounts_key key ${sql.literal(lineJoin)}
    WHERE key.id = ${KeyId.toUuid(key)} AND key.account = ${AccountId.toUuid(account)}
  `.pipe(decodeKeys, Rows.first(toKey))

/** Sets when a key expires. */
export const updateExpiry = (sql: SqlClient.SqlClient, key: KeyId, expiresAt: DateTime.Utc) =>
  sql`
    UPDATE accounts_key SET expires_at = ${DateTime.toDate(expiresAt)} WHERE id = ${KeyId.toUuid(key)}
  `.pipe(Effect.asVoid)

/** Sets the name of a key. */
export const updateName = (sql: SqlClient.SqlClient, key: KeyId, name: string) =>
  sql`UPDATE accounts_key SET name = ${name} WHERE id = ${KeyId.toUuid(key)}`.pipe(Effect.asVoid)

/** Revokes a key of an account, if it exists. A revoked key does not change. */
export const revokeKey = (sql: SqlClient.SqlClient, account: AccountId, key: KeyId, at: DateTime.Utc) =>
  sql`
    WITH key AS (
      UPDATE accounts_key SET revoked_at = coalesce(revoked_at, ${DateTime.toDate(at)})
      WHERE id = ${KeyId.toUuid(key)} AND account = ${AccountId.toUuid(account)}
      RETURNING *
    )
    SELECT ${keyColumns(sql)}
    FROM key ${sql.literal(lineJoin)}
  `.pipe(decodeKeys, Rows.first(toKey))

/** Revokes the keys of an account that are not revoked. */
export const revokeKeys = (sql: SqlClient.SqlClient, account: AccountId, at: DateTime.Utc) =>
  sql`
    UPDATE accounts_key SET revoked_at = ${DateTime.toDate(at)}
    WHERE account = ${AccountId.toUuid(account)} AND revoked_at IS NULL
  `.pipe(Effect.asVoid)

/**
 * Deletes keys that were revoked or expired before `before`, and a line with its last key. SKIP LOCKED, so that sweeps of
 * several hosts do not wait for each other. If two of them delete the last two keys of a line at the same time, the line
 * stays until its account is erased.
 */
export const deleteRevokedKeys = (
  sql: SqlClient.SqlClient,
  before: DateTime.Utc,
  limit: number
) =>
  sql`
    WITH deleted AS (
      DELETE FROM accounts_key
      WHERE id = ANY(ARRAY(
        SELECT id
        FROM accounts_key
        WHERE revoked_at < ${DateTime.toDate(before)} OR expires_at < ${DateTime.toDate(before)}
        ORDER BY least(revoked_at, expires_at)
        LIMIT ${limit}
        FOR UPDATE SKIP LOCKED
      ))
      RETURNING id, coalesce(line, id) AS line
    ), ended AS (
      DELETE FROM accounts_key_line line
      USING (SELECT DISTINCT line FROM deleted) AS former
      WHERE line.id = former.line AND NOT EXISTS (
        SELECT
        FROM accounts_key key
        WHERE (key.line = line.id OR key.id = line.id) AND key.id NOT IN (SELECT id FROM deleted)
      )
    )
    SELECT id FROM deleted
  `.pipe(Effect.map((rows) => rows.length))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyColumns = (sql: SqlClient.SqlClient) =>
  sql.literal(`
    key.id, key.account, key.name, key.prefix, key.line, key.created_at, key.created_by, key.last_used_at, key.revoked_at,
    ${termsColumns}, ${budgetColumns}, ${budgetMaxColumns}
  `)

const KeyRow = Schema.Struct({
  id: Schema.String,
  account: Schema.String,
  name: Schema.String,
  prefix: Schema.String,
  line: Schema.NullOr(Schema.String),
  created_at: Rows.timestamptz,
  created_by: Schema.NullOr(Schema.String),
  last_used_at: Schema.NullOr(Rows.timestamptz),
  revoked_at: Schema.NullOr(Rows.timestamptz),
  ...termsFields,
  ...budgetFields,
  ...budgetMaxFields
})

const decodeKeys = Rows.decodeAll(KeyRow)

const toKey = (row: typeof KeyRow.Type): ApiKey => ({
  id: KeyId.fromUuid(row.id),
  account: AccountId.fromUuid(row.account),
  name: row.name,
  prefix: row.prefix,
  terms: toTerms(row),
  line: KeyId.fromUuid(row.line ?? row.id),
  budget: toBudget(row),
  budgetMax: toBudgetMax(row),
  createdAt: row.created_at,
  createdBy: row.created_by,
  lastUsedAt: Option.fromNullOr(row.last_used_at),
  revokedAt: Option.fromNullOr(row.revoked_at)
})
