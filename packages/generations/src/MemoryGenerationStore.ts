/** The store in memory, for tests and for hosts that keep nothing. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer } from "effect"
import type { Generation, GenerationId } from "./Generation.ts"
import { GenerationStore } from "./GenerationStore.ts"

/** Keeps generations in the memory of this process. */
export const layer: Layer.Layer<GenerationStore, never, MemoryBackend> = Layer.effect(
  GenerationStore,
  Effect.gen(function*() {
    const { access, makeMap } = yield* MemoryBackend
    const generations = makeMap<GenerationId, Generation>()

    const change = (id: GenerationId, from: ReadonlyArray<Generation["status"]>, to: Partial<Generation>): boolean => {
      const generation = generations.get(id)
      if (generation === undefined || !from.includes(generation.status)) return false
      generations.set(id, { ...generation, ...to })
      return true
    }

    return GenerationStore.of({
      insert: (added) => access(() => added.forEach((generation) => generations.set(generation.id, generation))),
      find: (ids) => access(() => ids.flatMap((id) => generations.get(id) ?? [])),
      queue: (ids) => access(() => ids.forEach((id) => change(id, ["pending"], { status: "queued" }))),
      start: (starts) =>
        access(() =>
          starts
            .filter(({ at, id }) => change(id, ["queued"], { status: "processing", startedAt: at }))
            .map(({ id }) => id)
        ),
      complete: (completions) =>
        access(() =>
          completions.forEach(({ at, id, output, resultExpiresAt }) =>
            change(id, ["processing"], { status: "completed", output, finishedAt: at, resultExpiresAt })
          )
        ),
      end: (endings) =>
        access(() =>
          endings.forEach(({ at, failure, id }) =>
            change(id, ["pending", "queued", "processing"], {
              status: failure === null ? "cancelled" : "failed",
              failure,
              finishedAt: at,
              refunded: true
            })
          )
        ),
      waiting: (models, limit) =>
        access(() =>
          Array.from(generations.values())
            .filter(({ model, status }) => models.includes(model) && (status === "pending" || status === "queued"))
            .toSorted((a, b) => a.id < b.id ? -1 : 1)
            .slice(0, limit)
        ),
      expired: (now, limit) =>
        access(() =>
          Array.from(generations.values())
            .filter(({ output, resultExpiresAt }) =>
              output !== null && resultExpiresAt !== null && DateTime.isLessThanOrEqualTo(resultExpiresAt, now)
            )
            .toSorted((a, b) =>
              Number(a.resultExpiresAt?.epochMilliseconds) - Number(b.resultExpiresAt?.epochMilliseconds)
            )
            .slice(0, limit)
        ),
      clearOutput: (ids) => access(() => ids.forEach((id) => change(id, ["completed"], { output: null })))
    })
  })
)
