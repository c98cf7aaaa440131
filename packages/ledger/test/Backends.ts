/** The ledger on each backend. */
import { Migrations, UnitOfWork } from "@kinora/persistence"
import { type TestDatabase, TestSchema } from "@kinora/testkit"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Ledger from "../src/Ledger.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"

export const memory = Ledger.layerMemory

/** `Ledger.layerPostgres`, whose units wait longer: hundreds take turns on few connections, on a machine that runs other tests. */
export const over = (database: TestDatabase.TestDatabase) => {
  const { client, store } = TestSchema.place(SqlLedgerStore, database)
  return Ledger.layerWith({}).pipe(
    Layer.provide([store.layer, SecureRandom.layerWebCrypto]),
    Layer.provideMerge(UnitOfWork.layerSqlWith({ deadline: "2 minutes" })),
    Layer.provide(Migrations.layer(store.migrations)),
    Layer.provideMerge(client)
  )
}
