import { layerMemory } from "./Assembly.ts"
import { suite, timeSuite } from "./PoolsContract.ts"

suite("memory", layerMemory)
timeSuite("memory", layerMemory)
