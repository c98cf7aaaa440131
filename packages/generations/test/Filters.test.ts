import { layerMemory } from "./Assembly.ts"
import { suite } from "./FiltersContract.ts"

suite("memory", layerMemory)
