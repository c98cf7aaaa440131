import { BlobStore } from "@kinora/storage"
import { suite } from "@kinora/storage/testing"

suite("memory", BlobStore.layerMemory)
