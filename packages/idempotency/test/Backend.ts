/** The backends of idempotency, with their units of work. */
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { type TestDatabase, TestSchema } from "@kinora/testkit"
import { Layer } from "effect"
import { MemoryIdempotencyStore, SqlIdempotencyStore } from "../src/index.ts"

export const memory = MemoryIdempotencyStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

export const overWith = (database: TestDatabase.TestDatabase, units: typeof UnitOfWork.layerSql) => {
  const { client, store } = TestSchema.place(SqlIdempotencyStore, database)
  return store.layer.pipe(
    Layer.provideMerge(units),
    Layer.provideMerge(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}

// Hundreds of units take turns on few connections, on a machine that runs other tests.
export const over = (database: TestDatabase.TestDatabase) =>
  overWith(database, UnitOfWork.layerSqlWith({ deadline: "2 minutes" }))
