import { layerMemory } from "../src/BlobStore.ts"
import { chunkSuite } from "./chunkSuite.ts"

chunkSuite("memory", layerMemory)
