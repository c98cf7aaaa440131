/** The backends of idempotency, with their units of work. */
import { Migrations, UnitOfWork } from "@kinora/persistence"
import type { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import { MemoryIdempotencyStore, SqlIdempotencyStore } from "../src/index.ts"

export const memory = MemoryIdempotencyStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory))

export const overWith = (database: TestDatabase.TestDatabase, units: typeof UnitOfWork.layerSql) =>
  Layer.mergeAll(SqlIdempotencyStore.layer, units).pipe(
    Layer.provideMerge(Migrations.layer(SqlIdempotencyStore.migrations)),
    Layer.provideMerge(database)
  )

export const over = (database: TestDatabase.TestDatabase) => overWith(database, UnitOfWork.layerSql)
