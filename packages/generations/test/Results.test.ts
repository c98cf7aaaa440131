import { layerMemory } from "./Assembly.ts"
import { suite } from "./ResultsContract.ts"

suite("memory", layerMemory)
