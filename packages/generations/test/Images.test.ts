import { layerMemory } from "./Assembly.ts"
import { suite as crashes } from "./CrashesContract.ts"
import { suite } from "./ImagesContract.ts"

suite("memory", layerMemory)
crashes("memory", layerMemory)
