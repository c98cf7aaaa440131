import { layerMemory } from "./Assembly.ts"
import { suite } from "./PausesContract.ts"

suite("memory", layerMemory)
