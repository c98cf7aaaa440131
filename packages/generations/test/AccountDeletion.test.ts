import { suite } from "./AccountDeletionContract.ts"
import { layerMemory } from "./Assembly.ts"

suite("memory", layerMemory)
