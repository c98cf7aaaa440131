import { layerMemory } from "./Assembly.ts"
import { suite } from "./ListingContract.ts"

suite("memory", layerMemory)
