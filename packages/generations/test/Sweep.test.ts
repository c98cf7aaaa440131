import { Media } from "@kinora/media"
import { layerMemoryWith } from "./Assembly.ts"
import { suite } from "./SweepContract.ts"

suite("memory", layerMemoryWith({}, Media.layer()))
