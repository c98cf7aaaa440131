import { UnitOfWork } from "@kinora/persistence"
import { MemorySchedulerStore } from "@kinora/scheduler"
import { suite } from "@kinora/scheduler/testing"
import { Layer } from "effect"

suite("memory", MemorySchedulerStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory)))
