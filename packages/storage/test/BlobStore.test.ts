import { layerMemory } from "../src/BlobStore.ts"
import { suite } from "./BlobStoreContract.ts"

suite("memory", layerMemory)
