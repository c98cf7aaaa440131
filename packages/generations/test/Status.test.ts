import { layerMemory } from "./Assembly.ts"
import { refusalSuite, statusSuite } from "./StatusContract.ts"

statusSuite("memory", layerMemory)
refusalSuite("memory", layerMemory)
