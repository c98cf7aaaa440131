import { layerMemory } from "./Assembly.ts"
import { suite } from "./SweepContract.ts"

suite("memory", layerMemory)
