/** The schema of the tables of a suite. */
import { Backend, DatabaseSchema } from "@kinora/persistence"
import { Layer } from "effect"
import * as TestDatabase from "./TestDatabase.ts"

/** The store of a suite, and the client with which its tests write statements of their own. */
export interface Placed<Stores> {
  readonly store: Backend.SqlStore<Stores>
  readonly client: TestDatabase.TestDatabase
}

/**
 * Places the tables of a store for a suite. On Postgres, they are in a schema, whose name the client writes into the statements of
 * tests too. On PGlite, and in transactions of other drivers, they are in the schema of the connection.
 */
export const place = <Stores>(
  store: Backend.RelocatableStore<Stores>,
  database: TestDatabase.TestDatabase
): Placed<Stores> =>
  database === TestDatabase.postgres
    ? {
      store: Backend.inSchema(store, "apart"),
      client: Layer.provideMerge(DatabaseSchema.layer("apart", store.migrations.objects), database)
    }
    : { store, client: database }
