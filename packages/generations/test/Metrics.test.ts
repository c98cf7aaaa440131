import { layerMemory } from "./Assembly.ts"
import { suite } from "./MetricsContract.ts"

suite("memory", layerMemory)
