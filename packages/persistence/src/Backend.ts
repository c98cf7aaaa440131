/** The part of `layerMemory` and `layerPostgres` that is the same for every package. */
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import * as DatabaseSchema from "./DatabaseSchema.ts"
import * as Migrations from "./Migrations.ts"
import type { StorageError } from "./StorageError.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/** Layer of services in the memory of the process. */
export type MemoryLayer<Services> = Layer.Layer<Services | UnitOfWork.UnitOfWork | UnitOfWork.MemoryBackend>

/** Layer of services in Postgres. Building it fails if the database is unavailable or a newer build has removed something from its tables. */
export type PostgresLayer<Services> = Layer.Layer<
  Services | UnitOfWork.UnitOfWork,
  Migrations.SchemaMismatch | StorageError,
  SqlClient.SqlClient
>

/** Provides a service with memory stores, units of work in memory, and randomness. */
export const memory =
  <Stores>(stores: Layer.Layer<Stores, never, UnitOfWork.MemoryBackend>) => <A, E, R>(service: Layer.Layer<A, E, R>) =>
    service.pipe(
      Layer.provide([stores, SecureRandom.layerWebCrypto]),
      Layer.provideMerge(UnitOfWork.layerMemory)
    )

/** A SQL store and its tables. */
export interface SqlStore<Stores> {
  readonly layer: Layer.Layer<Stores, never, SqlClient.SqlClient | UnitOfWork.UnitOfWork>
  readonly migrations: Migrations.Migrations
}

/** A SQL store whose tables can be in any schema. */
export interface RelocatableStore<Stores> extends SqlStore<Stores> {
  readonly migrations: Migrations.Relocatable
}

/** Options of layers whose tables can be in any schema. */
export interface SchemaOptions {
  /**
   * The schema of the tables, which is created if it is missing. Default: the first one of the connection's `search_path`. With it,
   * the `search_path` has no effect. Letters, digits and `_`, at most 63.
   */
  readonly schema?: string | undefined
}

/**
 * Returns the store with its tables in a schema, or the store itself without one. Throws a `TypeError` if the name of the schema
 * is invalid.
 */
export const inSchema = <Stores>(store: RelocatableStore<Stores>, schema: string | undefined): SqlStore<Stores> =>
  schema === undefined ? store : {
    layer: Layer.provide(store.layer, DatabaseSchema.layer(schema, store.migrations.objects)),
    migrations: Migrations.inSchema(store.migrations, schema)
  }

/**
 * Provides a service with a SQL store, units of work as transactions, and randomness. Runs
 * the pending migrations of the store while the layer is built.
 */
export const postgres = <Stores>(store: SqlStore<Stores>) => <A, E, R>(service: Layer.Layer<A, E, R>) =>
  service.pipe(
    Layer.provide([store.layer, SecureRandom.layerWebCrypto]),
    Layer.provideMerge(UnitOfWork.layerSql),
    Layer.provide(Migrations.layer(store.migrations))
  )
