import { Media } from "@kinora/media"
import { layerMemoryWith } from "./Assembly.ts"
import { suite } from "./ModerationContract.ts"

suite("memory", layerMemoryWith({}, Media.layer()))
