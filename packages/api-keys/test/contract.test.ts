import { MemoryApiKeyStore } from "@kinora/api-keys"
import { suite } from "@kinora/api-keys/testing"
import { UnitOfWork } from "@kinora/persistence"
import { Layer } from "effect"

suite("memory", MemoryApiKeyStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory)))
