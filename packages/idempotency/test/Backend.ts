/** The backends of idempotency, with their units of work. */
import { Backend, DatabaseSchema, Migrations, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import { MemoryIdempotencyStore, SqlIdempotencyStore } from "../src/index.ts"

export const memory = MemoryIdempotencyStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

/**
 * The store and the client of tests. On Postgres, the tables are in a schema, whose name the client writes into the statements of
 * tests too. On PGlite, and in transactions of other drivers, they are in the schema of the connection.
 */
const placed = (database: TestDatabase.TestDatabase) =>
  database === TestDatabase.postgres
    ? {
      store: Backend.inSchema(SqlIdempotencyStore, "apart"),
      client: Layer.provideMerge(DatabaseSchema.layer("apart", SqlIdempotencyStore.migrations.objects), database)
    }
    : { store: SqlIdempotencyStore, client: database }

export const overWith = (database: TestDatabase.TestDatabase, units: typeof UnitOfWork.layerSql) => {
  const { client, store } = placed(database)
  return store.layer.pipe(
    Layer.provideMerge(units),
    Layer.provideMerge(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}

// Hundreds of units take turns on few connections, on a machine that runs other tests.
export const over = (database: TestDatabase.TestDatabase) =>
  overWith(database, UnitOfWork.layerSqlWith({ deadline: "2 minutes" }))
