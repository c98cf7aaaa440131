import { UnitOfWork } from "@kinora/persistence"
import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Ledger from "../src/Ledger.ts"
import * as MemoryLedgerStore from "../src/MemoryLedgerStore.ts"
import * as ForgetContract from "./ForgetContract.ts"

ForgetContract.suite(
  "memory",
  Ledger.layer.pipe(
    Layer.provideMerge(MemoryLedgerStore.layer),
    Layer.provideMerge(UnitOfWork.layerMemory),
    Layer.provide(SecureRandom.layerWebCrypto)
  )
)
