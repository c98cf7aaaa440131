import { layerMemory } from "./Assembly.ts"
import { suite } from "./AttemptsContract.ts"

suite("memory", layerMemory)
