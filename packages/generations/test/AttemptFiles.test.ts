import { layerMemory } from "./Assembly.ts"
import { suite } from "./AttemptFilesContract.ts"

suite("memory", layerMemory)
