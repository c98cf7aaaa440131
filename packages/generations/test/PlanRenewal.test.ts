import { MemoryAccountStore } from "@kinora/accounts"
import { MemoryLedgerStore } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { Layer } from "effect"
import { suite } from "./PlanRenewalContract.ts"

suite(
  "memory",
  Layer.mergeAll(MemoryAccountStore.layer, MemoryLedgerStore.layer).pipe(Layer.provideMerge(UnitOfWork.layerMemory))
)
