/** Statements that read keys. */
import * as Rows from "@kinora/persistence/Rows"
import type { Statements } from "@kinora/persistence/SqlStore"
import { DateTime, Effect, Schema } from "effect"
import { KeyId } from "../../ApiKey.ts"
import type { ApiKeyStore } from "../../ApiKeyStore.ts"
import { keyColumns, keyFields, type KeyTable, toKey } from "./keyTable.ts"

/** Returns the statements on a table. */
export const reads = (
  table: KeyTable
): Pick<Statements<ApiKeyStore["Service"]>, "countKeys" | "findActive" | "findKey" | "listKeys"> => {
  const { name, owner: { column, toColumn } } = table
  return {
    countKeys: (sql, owner, at) =>
      sql`
        SELECT count(*)::int4 AS count
        FROM ${sql.literal(name)}
        WHERE ${sql.literal(column)} = ${toColumn(owner)} AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > ${DateTime.toDate(at)})
      `.pipe(Rows.decodeCount),

    listKeys: (sql, owner, at, limit) =>
      sql`
        SELECT ${keyColumns(sql, table)}
        FROM ${sql.literal(name)} key
        WHERE key.${sql.literal(column)} = ${toColumn(owner)}
        ORDER BY key.revoked_at IS NOT NULL OR coalesce(key.expires_at <= ${DateTime.toDate(at)}, false), key.id DESC
        LIMIT ${limit}
      `.pipe(decodeKeys, Effect.map((rows) => rows.map(toKey(table)))),

    findKey: (sql, owner, key) =>
      sql`
        SELECT ${keyColumns(sql, table)}
        FROM ${sql.literal(name)} key
        WHERE key.id = ${KeyId.toUuid(key)} AND key.${sql.literal(column)} = ${toColumn(owner)}
      `.pipe(decodeKeys, Rows.first(toKey(table))),

    findActive: (sql, hashes) =>
      sql`
        SELECT key.hash, ${keyColumns(sql, table)}
        FROM ${sql.literal(name)} key
        WHERE key.hash = ANY(${Rows.array("text", hashes)}) AND key.revoked_at IS NULL
      `.pipe(decodeActive, Effect.map((rows) => rows.map((row) => ({ hash: row.hash, key: toKey(table)(row) }))))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeKeys = Rows.decodeAll(Schema.Struct(keyFields))

const decodeActive = Rows.decodeAll(Schema.Struct({ hash: Schema.String, ...keyFields }))
