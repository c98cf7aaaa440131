/** The part of `layerMemory` and `layerPostgres` that is the same for every package. */
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import * as Migrations from "./Migrations.ts"
import type { StorageError } from "./StorageError.ts"
import * as UnitOfWork from "./UnitOfWork.ts"

/** Layer of services in the memory of the process. */
export type MemoryLayer<Services> = Layer.Layer<Services | UnitOfWork.UnitOfWork | UnitOfWork.MemoryBackend>

/** Layer of services in Postgres. Building it fails if the database is unavailable or its tables are newer than this build. */
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
