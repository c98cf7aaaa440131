/** The ledger on each backend. */
import { Backend, DatabaseSchema, Migrations, UnitOfWork } from "@kinora/persistence"
import { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Ledger from "../src/Ledger.ts"
import * as MemoryLedgerStore from "../src/MemoryLedgerStore.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"

export const memory = Ledger.layerMemory

/** `memory` with options. */
export const memoryWith = (options: Ledger.LedgerOptions) =>
  Ledger.layerWith(options).pipe(Backend.memory(MemoryLedgerStore.layer))

/**
 * The store and the client of tests. On Postgres, the tables are in a schema, whose name the client writes into the statements of
 * tests too. On PGlite, and in transactions of other drivers, they are in the schema of the connection.
 */
const placed = (database: TestDatabase.TestDatabase) =>
  database === TestDatabase.postgres
    ? {
      store: Backend.inSchema(SqlLedgerStore, "apart"),
      client: Layer.provideMerge(DatabaseSchema.layer("apart", SqlLedgerStore.migrations.objects), database)
    }
    : { store: SqlLedgerStore, client: database }

/** The store, whose units wait longer: hundreds take turns on few connections, on a machine that runs other tests. */
export const storeOver = (database: TestDatabase.TestDatabase) => {
  const { client, store } = placed(database)
  return store.layer.pipe(
    Layer.provideMerge(UnitOfWork.layerSqlWith({ deadline: "2 minutes" })),
    Layer.provide(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}

/** `Ledger.layerPostgres` over this store. */
export const over = (database: TestDatabase.TestDatabase, options: Ledger.LedgerOptions = {}) =>
  Ledger.layerWith(options).pipe(Layer.provide(SecureRandom.layerWebCrypto), Layer.provideMerge(storeOver(database)))
