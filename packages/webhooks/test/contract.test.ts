import { UnitOfWork } from "@kinora/persistence"
import { MemoryWebhookStore } from "@kinora/webhooks"
import { suite } from "@kinora/webhooks/testing"
import { Layer } from "effect"

suite("memory", MemoryWebhookStore.layer.pipe(Layer.provideMerge(UnitOfWork.layerMemory)))
