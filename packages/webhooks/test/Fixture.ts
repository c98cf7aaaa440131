/** The backends of webhooks. */
import { Backend, DatabaseSchema, Migrations, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import { MemoryWebhookStore, SqlWebhookStore } from "../src/index.ts"

export const memory = MemoryWebhookStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/**
 * The store and the client of tests. On Postgres, the tables are in a schema, whose name the client writes into the statements of
 * tests too. On PGlite, and in transactions of other drivers, they are in the schema of the connection.
 */
const placed = (database: TestDatabase.TestDatabase) =>
  database === TestDatabase.postgres
    ? {
      store: Backend.inSchema(SqlWebhookStore, "apart"),
      client: Layer.provideMerge(DatabaseSchema.layer("apart", SqlWebhookStore.migrations.objects), database)
    }
    : { store: SqlWebhookStore, client: database }

export const over = (database: TestDatabase.TestDatabase) => {
  const { client, store } = placed(database)
  return store.layer.pipe(
    // Hundreds of units take turns on few connections, on a machine that runs other tests.
    Layer.provideMerge(UnitOfWork.layerSqlWith({ deadline: "2 minutes" })),
    Layer.provideMerge(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}
