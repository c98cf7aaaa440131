import { MemoryIdempotencyStore } from "@kinora/idempotency"
import { suite } from "@kinora/idempotency/testing"
import { UnitOfWork } from "@kinora/persistence"
import { Layer } from "effect"

suite("memory", MemoryIdempotencyStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory)))
