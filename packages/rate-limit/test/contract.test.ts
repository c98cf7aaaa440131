import { UnitOfWork } from "@kinora/persistence"
import { MemoryRateLimitStore } from "@kinora/rate-limit"
import { suite } from "@kinora/rate-limit/testing"
import { Layer } from "effect"

suite("memory", MemoryRateLimitStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory)))
