import { layerMemory } from "./Assembly.ts"
import { suite } from "./InterventionsContract.ts"

suite("memory", layerMemory)
