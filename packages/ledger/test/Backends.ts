/** The ledger over each backend. */
import { Migrations, UnitOfWork } from "@kinora/persistence"
import type { TestDatabase } from "@kinora/testkit"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Ledger from "../src/Ledger.ts"
import * as MemoryLedgerStore from "../src/MemoryLedgerStore.ts"
import * as SqlLedgerStore from "../src/SqlLedgerStore.ts"

export const memory = Ledger.layer.pipe(
  Layer.provide([MemoryLedgerStore.layer, SecureRandom.layerWebCrypto]),
  Layer.provideMerge(UnitOfWork.layerMemory)
)

export const over = (database: TestDatabase.TestDatabase) =>
  Ledger.layer.pipe(
    Layer.provide([SqlLedgerStore.layer, SecureRandom.layerWebCrypto]),
    Layer.provideMerge(UnitOfWork.layerSql),
    Layer.provideMerge(Migrations.layer(SqlLedgerStore.migrations)),
    Layer.provideMerge(database)
  )
