import { layerMemoryWith } from "./Assembly.ts"
import { suite, waitingMax } from "./StoryContract.ts"

suite("memory", layerMemoryWith({ waitingMax }), 100)
