import { layerMemory } from "./Assembly.ts"
import { suite } from "./EventsContract.ts"

suite("memory", layerMemory)
