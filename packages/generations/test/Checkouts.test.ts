import { layerMemory } from "./Assembly.ts"
import { suite } from "./CheckoutsContract.ts"

suite("memory", layerMemory, 20)
