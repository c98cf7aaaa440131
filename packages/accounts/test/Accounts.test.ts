import { UnitOfWork } from "@kinora/persistence"
import { Layer } from "effect"
import * as MemoryAccountStore from "../src/MemoryAccountStore.ts"
import { suite } from "./AccountsContract.ts"

suite("memory", MemoryAccountStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory)))
