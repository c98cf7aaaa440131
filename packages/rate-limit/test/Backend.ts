/** The backends of limits, places and budgets. */
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { type TestDatabase, TestSchema } from "@kinora/testkit"
import { Layer } from "effect"
import { MemoryRateLimitStore, SqlRateLimitStore } from "../src/index.ts"

export const memory = MemoryRateLimitStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

export const over = (database: TestDatabase.TestDatabase) => {
  const { client, store } = TestSchema.place(SqlRateLimitStore, database)
  return store.layer.pipe(
    // Hundreds of units take turns on few connections, on a machine that runs other tests.
    Layer.provideMerge(UnitOfWork.layerSqlWith({ deadline: "2 minutes" })),
    Layer.provideMerge(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}
