/** `ModelPauses` in memory. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer } from "effect"
import { type ModelPause, ModelPauses } from "../../ModelPauses.ts"

/** Keeps pauses in the memory of this process. */
export const layer: Layer.Layer<ModelPauses, never, MemoryBackend> = Layer.effect(
  ModelPauses,
  Effect.map(MemoryBackend, ({ access, makeMap }) => {
    const pauses = makeMap<string, ModelPause>()
    return ModelPauses.of({
      list: access(() => Array.from(pauses.values())),
      pause: (pause) =>
        access(() => {
          if (!pauses.has(pause.model)) pauses.set(pause.model, pause)
        }),
      resume: (models) => access(() => models.forEach((model) => pauses.delete(model)))
    })
  })
)
