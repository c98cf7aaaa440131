/** The backends of API keys, with their units of work. */
import { Backend, DatabaseSchema, Migrations, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import * as MemoryApiKeyStore from "../src/MemoryApiKeyStore.ts"
import * as SqlApiKeyStore from "../src/SqlApiKeyStore.ts"

export const memory = MemoryApiKeyStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/**
 * The store and the client of tests. On Postgres, the table is in a schema, whose name the client writes into the statements of
 * tests too. On PGlite, it is in the schema of the connection.
 */
const placed = (database: TestDatabase.TestDatabase) =>
  database === TestDatabase.postgres
    ? {
      store: Backend.inSchema(SqlApiKeyStore, "apart"),
      client: Layer.provideMerge(DatabaseSchema.layer("apart", SqlApiKeyStore.migrations.objects), database)
    }
    : { store: SqlApiKeyStore, client: database }

export const over = (database: TestDatabase.TestDatabase) => {
  const { client, store } = placed(database)
  return store.layer.pipe(
    // Hundreds of units take turns on few connections, on a machine that runs other tests.
    Layer.provideMerge(UnitOfWork.layerSqlWith({ deadline: "2 minutes" })),
    Layer.provideMerge(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}
