import { Effect, Layer } from "effect"
import { SchedulerStore } from "./SchedulerStore.ts"
export const layer: Layer.Layer<SchedulerStore> = Layer.effect(SchedulerStore, Effect.never)
