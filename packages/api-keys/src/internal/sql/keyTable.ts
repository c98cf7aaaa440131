/** A table of keys, and its rows. */
import * as Rows from "@kinora/persistence/Rows"
import { Option, Schema } from "effect"
import { IpNetwork } from "effect/net"
import type { SqlClient } from "effect/sql"
import { type ApiKey, KeyId, type Metadata } from "../../ApiKey.ts"
import { type KeyTerms, unrestricted } from "../../KeyTerms.ts"

/**
 * A table of keys. A package whose keys have a table of their own describes it with this. The table has the columns of
 * `api_keys_key`, except for these. Names are parts of statements: pass constants only.
 */
export interface KeyTable {
  readonly name: string
  /** The column of the owner. */
  readonly owner: {
    readonly column: string
    readonly type: "text" | "uuid"
    readonly toColumn: (owner: string) => string
    readonly fromColumn: (column: string) => string
  }
  /** Whether metadata has the column `metadata`, or its fields are beside `scopes` and `networks` in the column `restrictions`. */
  readonly metadata: "metadata" | "restrictions"
}

/** The table of this package. */
export const apiKeysKey: KeyTable = {
  name: "api_keys_key",
  owner: { column: "owner", type: "text", toColumn: (owner) => owner, fromColumn: (column) => column },
  metadata: "metadata"
}

/** A key to insert. */
export interface Inserted {
  readonly key: ApiKey
  readonly hash: string
}

/** The columns of new rows. */
export const insertedColumns = ({ metadata, owner }: KeyTable): Rows.Columns<Inserted> => {
  const ownerOf = ({ key }: Inserted) => owner.toColumn(key.owner)
  return {
    id: ["uuid", ({ key }) => KeyId.toUuid(key.id)],
    [owner.column]: owner.type === "uuid" ? ["uuid", ownerOf] : ["text", ownerOf],
    line: ["uuid?", ({ key: { id, line } }) => line === id ? null : KeyId.toUuid(line)],
    name: ["text", ({ key }) => key.name],
    prefix: ["text", ({ key }) => key.prefix],
    hash: ["text", ({ hash }) => hash],
    created_at: ["timestamptz", ({ key }) => key.createdAt],
    created_by: ["text?", ({ key }) => key.createdBy],
    expires_at: ["timestamptz?", ({ key }) => Option.getOrNull(key.terms.expiresAt)],
    ...metadata === "metadata"
      ? {
        restrictions: ["jsonb", ({ key }) => restrictionsOf(key.terms)],
        metadata: ["jsonb", ({ key }) => key.metadata]
      }
      : { restrictions: ["jsonb", ({ key }) => ({ ...key.metadata, ...restrictionsOf(key.terms) })] }
  }
}

/** The columns of a record, selected from a table that is named `key`. */
export const keyColumns = (sql: SqlClient.SqlClient, { metadata, owner }: KeyTable) =>
  sql.literal(`
    key.id, key.${owner.column} AS owner, key.line, key.name, key.prefix, key.created_at, key.created_by, key.expires_at,
    key.last_used_at, key.revoked_at, key.restrictions, ${
    metadata === "metadata" ? "key.metadata" : "key.restrictions - '{scopes,networks}'::text[] AS metadata"
  }
  `)

/** The fields of a row with `key.expires_at` and `key.restrictions`. */
export const termsFields = {
  expires_at: Schema.NullOr(Rows.timestamptz),
  restrictions: Schema.Struct({
    scopes: Schema.optionalKey(Schema.Array(Schema.String)),
    networks: Schema.optionalKey(Schema.Array(Schema.String))
  })
}

/** Returns the terms of a row: `unrestricted` itself, if nothing is restricted. */
export const toTerms = ({ expires_at, restrictions }: Schema.Struct.Type<typeof termsFields>): KeyTerms =>
  expires_at === null && Object.keys(restrictions).length === 0 ? unrestricted : {
    expiresAt: Option.fromNullOr(expires_at),
    scopes: Option.fromUndefinedOr(restrictions.scopes),
    networks: Option.map(
      Option.fromUndefinedOr(restrictions.networks),
      (networks) => networks.map(IpNetwork.fromStringUnsafe)
    )
  }

/** The fields of a row with `keyColumns`. */
export const keyFields = {
  id: Schema.String,
  owner: Schema.String,
  line: Schema.NullOr(Schema.String),
  name: Schema.String,
  prefix: Schema.String,
  created_at: Rows.timestamptz,
  created_by: Schema.NullOr(Schema.String),
  last_used_at: Schema.NullOr(Rows.timestamptz),
  revoked_at: Schema.NullOr(Rows.timestamptz),
  ...termsFields,
  metadata: Schema.Record(Schema.String, Schema.Json)
}

/** Returns the key of a row. */
export const toKey = ({ owner }: KeyTable) => (row: Schema.Struct.Type<typeof keyFields>): ApiKey => ({
  id: KeyId.fromUuid(row.id),
  owner: owner.fromColumn(row.owner),
  name: row.name,
  prefix: row.prefix,
  terms: toTerms(row),
  metadata: row.metadata satisfies Metadata,
  line: KeyId.fromUuid(row.line ?? row.id),
  createdAt: row.created_at,
  createdBy: row.created_by,
  lastUsedAt: Option.fromNullOr(row.last_used_at),
  revokedAt: Option.fromNullOr(row.revoked_at)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns what the column `restrictions` holds of terms. */
const restrictionsOf = ({ networks, scopes }: KeyTerms) => ({
  ...Option.isSome(scopes) && { scopes: scopes.value },
  ...Option.isSome(networks) && { networks: networks.value.map(IpNetwork.format) }
})
