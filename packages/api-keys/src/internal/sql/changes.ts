/** Statements that lock and write keys. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import * as Rows from "@kinora/persistence/Rows"
import type { Statements } from "@kinora/persistence/SqlStore"
import { DateTime, Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { KeyId } from "../../ApiKey.ts"
import type { ApiKeyStore, KeyUse } from "../../ApiKeyStore.ts"
import { insertedColumns, keyColumns, keyFields, type KeyTable, toKey } from "./keyTable.ts"

/** Returns the statements on a table. */
export const changes = (
  table: KeyTable
): Omit<Statements<ApiKeyStore["Service"]>, "countKeys" | "findActive" | "findKey" | "listKeys" | "lockOwner"> => {
  const { name, owner: { column, toColumn } } = table
  const columns = insertedColumns(table)
  const count = Effect.map((rows: ReadonlyArray<unknown>) => rows.length)
  return {
    insertKey: (sql, key, hash) =>
      Pipelining.write(sql, sql`INSERT INTO ${sql.literal(name)} ${Rows.unnest([{ key, hash }], columns)}`),

    saveExpiry: (sql, key, expiresAt) =>
      Pipelining.write(
        sql,
        sql`
          UPDATE ${sql.literal(name)} SET expires_at = ${DateTime.toDate(expiresAt)} WHERE id = ${KeyId.toUuid(key)}
        `
      ),

    saveName: (sql, key, text) =>
      Pipelining.write(sql, sql`UPDATE ${sql.literal(name)} SET name = ${text} WHERE id = ${KeyId.toUuid(key)}`),

    // A revoked key does not change.
    revokeKey: (sql, owner, key, at) =>
      Effect.flatMap(Pipelining.begun(sql), (begun) =>
        sql`
        UPDATE ${sql.literal(name)} AS key SET revoked_at = coalesce(key.revoked_at, ${DateTime.toDate(at)})
        WHERE key.id = ${KeyId.toUuid(key)} AND key.${sql.literal(column)} = ${toColumn(owner)} AND ${begun}
        RETURNING ${keyColumns(sql, table)}
      `).pipe(decodeKeys, Rows.first(toKey(table))),

    revokeKeys: (sql, owner, at) =>
      sql`
        UPDATE ${sql.literal(name)} SET revoked_at = ${DateTime.toDate(at)}
        WHERE ${sql.literal(column)} = ${toColumn(owner)} AND revoked_at IS NULL
        RETURNING 1
      `.pipe(count),

    deleteKeys: (sql, owner) =>
      sql`DELETE FROM ${sql.literal(name)} WHERE ${sql.literal(column)} = ${toColumn(owner)} RETURNING 1`.pipe(count),

    deleteEnded: (sql, before, limit) => deleteEnded(sql, table, before, limit).pipe(count),

    noteUses: (sql, uses) => noteUses(sql, table, uses)
  }
}

/**
 * Returns the statement that deletes keys which were revoked or expired before `before`, with their `id` and the id of
 * their `line`. SKIP LOCKED, so that sweeps of several hosts do not wait for each other.
 */
export const deleteEnded = (
  sql: SqlClient.SqlClient,
  { name }: Pick<KeyTable, "name">,
  before: DateTime.Utc,
  limit: number
): Statement.Statement<unknown> =>
  sql`
    DELETE FROM ${sql.literal(name)}
    WHERE id = ANY(ARRAY(
      SELECT id
      FROM ${sql.literal(name)}
      WHERE revoked_at < ${DateTime.toDate(before)} OR expires_at < ${DateTime.toDate(before)}
      ORDER BY least(revoked_at, expires_at)
      LIMIT ${limit}
      FOR UPDATE SKIP LOCKED
    ))
    RETURNING id, coalesce(line, id) AS line
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeKeys = Rows.decodeAll(Schema.Struct(keyFields))

/** Records uses of keys, at most once per minute and key. Skips keys that another process records at the same time. */
const noteUses = (sql: SqlClient.SqlClient, { name }: KeyTable, uses: ReadonlyArray<KeyUse>) => {
  const used = Rows.table("used", uses, usedColumns)
  return sql`
    WITH due AS (
      SELECT key.id, used.at
      FROM ${sql.literal(name)} key
      JOIN ${used} ON used.id = key.id
      WHERE key.last_used_at IS NULL OR key.last_used_at <= used.at - interval '1 minute'
      FOR UPDATE OF key SKIP LOCKED
    )
    UPDATE ${sql.literal(name)} key SET last_used_at = due.at
    FROM due
    WHERE key.id = due.id
  `.pipe(Effect.asVoid)
}

const usedColumns: Rows.Columns<KeyUse> = {
  id: ["uuid", ({ key }) => KeyId.toUuid(key)],
  at: ["timestamptz", ({ at }) => at]
}
