import { Media } from "@kinora/media"
import { layerMemoryWith } from "./Assembly.ts"
import { suite as crashes } from "./CrashesContract.ts"
import { suite } from "./ImagesContract.ts"

suite("memory", layerMemoryWith({}, Media.layer()))
crashes("memory", layerMemoryWith({}, Media.layer()))
