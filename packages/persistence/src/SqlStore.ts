/** SQL stores whose methods each run one function over the surrounding database. */
import { type Context, Effect, Layer, type Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { mapSql } from "./StorageError.ts"

/** Functions that run the statements of a store, by the names of its methods. They may fail with errors of the driver. */
export type Statements<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...args: infer Args) => Effect.Effect<infer A, infer E, infer R>
    ? (sql: SqlClient.SqlClient, ...args: Args) => Effect.Effect<A, E | SqlError.SqlError | Schema.SchemaError, R>
    : never
}

/**
 * Provides a store from the functions that run its statements. `StorageError.mapSql` converts the failures of each method. Their
 * operation has the last part of the key of the store, such as `OperatorStore.find` for `@kinora/operators/OperatorStore`.
 */
export const layer = <Identifier, Store>(
  store: Context.Service<Identifier, Store>,
  statements: Statements<Store>
): Layer.Layer<Identifier, never, SqlClient.SqlClient> =>
  Layer.effect(
    store,
    Effect.map(SqlClient.SqlClient, (sql) => methods(store.key.slice(store.key.lastIndexOf("/") + 1), sql, statements))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const methods = <Store>(store: string, sql: SqlClient.SqlClient, statements: Statements<Store>): Store =>
  // Entries lose the relation between a name and its function, which `Statements` states.
  Object.fromEntries<unknown>(
    Object.entries<Run>(statements).map(([name, run]) => {
      const map = mapSql(`${store}.${name}`)
      return [name, (...args: ReadonlyArray<never>) => map(run(sql, ...args))]
    })
  ) as Store

type Run = (sql: SqlClient.SqlClient, ...args: ReadonlyArray<never>) => Effect.Effect<unknown, unknown, unknown>
