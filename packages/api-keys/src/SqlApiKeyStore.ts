/** Keys in Postgres. Of a key itself, the table holds the hash and the first characters. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import * as SqlStore from "@kinora/persistence/SqlStore"
import type { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import { changes } from "./internal/sql/changes.ts"
import { apiKeysKey, type KeyTable } from "./internal/sql/keyTable.ts"
import { owners } from "./internal/sql/owners.ts"
import { reads } from "./internal/sql/reads.ts"
import * as Tables from "./migrations.ts"

export { deleteEnded } from "./internal/sql/changes.ts"
export { type KeyTable, termsFields, toTerms } from "./internal/sql/keyTable.ts"

/** The tables of this package. The store itself runs no DDL. */
export const migrations: Relocatable = Tables.migrations

/** Returns the statements of a store over a table. Its package locks owners. */
export const statements = (table: KeyTable): Omit<SqlStore.Statements<ApiKeyStore["Service"]>, "lockOwner"> => ({
  ...reads(table),
  ...changes(table)
})

/** A store over the surrounding database. Run `migrations` first. */
export const layer: Layer.Layer<ApiKeyStore, never, SqlClient.SqlClient> = SqlStore.layer(
  ApiKeyStore,
  { ...statements(apiKeysKey), ...owners }
)
