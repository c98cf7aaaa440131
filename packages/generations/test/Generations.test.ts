import { layerMemory } from "./Assembly.ts"
import { suite } from "./GenerationsContract.ts"

suite("memory", layerMemory)
