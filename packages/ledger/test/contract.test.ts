import { MemoryLedgerStore } from "@kinora/ledger"
import { suite } from "@kinora/ledger/testing"
import { UnitOfWork } from "@kinora/persistence"
import { Layer } from "effect"

suite("memory", MemoryLedgerStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory)))
