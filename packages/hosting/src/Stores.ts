/** The stores of all packages: in memory, or in one database. */
import { Services } from "@kinora/generations"
import type { Migrations, UnitOfWork } from "@kinora/persistence"
import * as ConfigurationCheck from "./ConfigurationCheck.ts"
import * as Database from "./Database.ts"

/** Stores in the memory of this process, and their unit of work. */
export const layerMemory = Services.layerMemoryStores

/** Stores in a database with the tables of `migrations`, and their unit of work. */
export const layerSqlWith = (options: UnitOfWork.UnitOfWorkOptions) => Services.layerSqlStoresWith(options)

/** The same with the default options. */
export const layerSql = layerSqlWith({})

/** The migrations of all packages. */
export const migrations: ReadonlyArray<Migrations.Migrations> = [
  ...Services.migrations,
  ConfigurationCheck.migrations,
  Database.migrations
]
