import { layerMemoryWith, mediaThatTrusts } from "./Assembly.ts"
import { suite, waitingMax } from "./StoryContract.ts"

suite("memory", layerMemoryWith({ waitingMax }, mediaThatTrusts), 100)
