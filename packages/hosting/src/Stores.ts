/** The stores of all packages: in memory, or in one database. */
import { Services } from "@kinora/generations"
import { type Migrations, UnitOfWork } from "@kinora/persistence"
import { MemoryRateLimitStore, SqlRateLimitStore } from "@kinora/rate-limit"
import { Layer } from "effect"
import * as ConfigurationCheck from "./ConfigurationCheck.ts"

/** Stores in the memory of this process, and their unit of work. */
export const layerMemory = Layer.merge(Services.layerMemoryStores, MemoryRateLimitStore.layer).pipe(
  Layer.provideMerge(UnitOfWork.layerMemory)
)

/** Stores in a database with the tables of `migrations`, and their unit of work. */
export const layerSqlWith = (options: UnitOfWork.UnitOfWorkOptions) =>
  Layer.merge(Services.layerSqlStores, SqlRateLimitStore.layer).pipe(
    Layer.provideMerge(UnitOfWork.layerSqlWith(options))
  )

/** The same with the default options. */
export const layerSql = layerSqlWith({})

/** The migrations of all packages. */
export const migrations: ReadonlyArray<Migrations.Migrations> = [
  ...Services.migrations,
  SqlRateLimitStore.migrations,
  ConfigurationCheck.migrations
]
