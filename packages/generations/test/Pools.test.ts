import { layerMemory } from "./Assembly.ts"
import { queueSuite, suite, timeSuite } from "./PoolsContract.ts"

suite("memory", layerMemory)
timeSuite("memory", layerMemory)
queueSuite("memory", layerMemory)
