import { layerMemory } from "./Assembly.ts"
import { suite } from "./ModerationContract.ts"

suite("memory", layerMemory)
