import { suite } from "./AccountChangesContract.ts"
import { layerMemory } from "./Assembly.ts"

suite("memory", layerMemory)
