/** The store in memory, for tests and for hosts that keep nothing. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer } from "effect"
import type { Generation, GenerationId } from "./Generation.ts"
import { type Ending, GenerationStore, type Selection } from "./GenerationStore.ts"
import type { ImageStore } from "./ImageStore.ts"
import * as MemoryImageStore from "./internal/store/MemoryImageStore.ts"
import type { UsageRow } from "./Usage.ts"

/** Keeps generations and their images in the memory of this process. */
export const layer: Layer.Layer<GenerationStore | ImageStore, never, MemoryBackend> = Layer.suspend(() =>
  Layer.merge(layerGenerations, MemoryImageStore.layer)
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layerGenerations: Layer.Layer<GenerationStore, never, MemoryBackend> = Layer.effect(
  GenerationStore,
  Effect.gen(function*() {
    const { access, makeMap } = yield* MemoryBackend
    const generations = makeMap<GenerationId, Generation>()
    const usage = makeMap<string, UsageRow & { readonly account: string }>()
    const putOff = makeMap<GenerationId, DateTime.Utc>()

    /** The generation as it is now; `undefined`: it was in none of these states. */
    const change = (
      id: GenerationId,
      from: ReadonlyArray<Generation["status"]>,
      to: Partial<Generation>
    ): Generation | undefined => {
      const generation = generations.get(id)
      if (generation === undefined || !from.includes(generation.status)) return undefined
      const changed = { ...generation, ...to }
      generations.set(id, changed)
      return changed
    }

    const count = ({ account, costCredits, kind, model, plan }: Generation, { at, status }: Ending) => {
      const day = dayOf(at)
      const key = JSON.stringify([account, day, plan, model, kind])
      const row = usage.get(key) ??
        { account, day, plan, model, kind, completed: 0, failed: 0, cancelled: 0, credits: 0 }
      const credits = status === "completed" ? costCredits ?? 0 : 0
      usage.set(key, { ...row, [status]: row[status] + 1, credits: row.credits + credits })
    }

    const end = (ending: Ending): ReadonlyArray<Generation> => {
      const { at, id, status, ...result } = ending
      const ended = change(id, status === "completed" ? ["processing"] : ["pending", "queued", "processing"], {
        status,
        finishedAt: at,
        refunded: status !== "completed",
        ...result
      })
      if (ended === undefined) return []
      count(ended, ending)
      return [ended]
    }

    return GenerationStore.of({
      insert: (added) => access(() => added.forEach((generation) => generations.set(generation.id, generation))),
      find: (ids) => access(() => ids.flatMap((id) => generations.get(id) ?? [])),
      list: (account, selection) =>
        access(() =>
          Array.from(generations.values())
            .filter((generation) => generation.account === account && isSelected(generation, selection))
            .toSorted((a, b) => a.id > b.id ? -1 : 1)
            .slice(0, selection.limit)
        ),
      queue: (ids) => access(() => ids.forEach((id) => change(id, ["pending"], { status: "queued" }))),
      start: (starts) =>
        access(() =>
          starts.flatMap(({ at, id }) => change(id, ["queued"], { status: "processing", startedAt: at }) ?? [])
        ),
      end: (endings) => access(() => endings.flatMap(end)),
      usage: (account, { from, to }) =>
        access(() =>
          Array.from(usage.values())
            .filter((row) => row.account === account && from <= row.day && row.day <= to)
            .map(({ account: _, ...row }) => row)
            .toSorted((a, b) => orderOf(a) < orderOf(b) ? -1 : 1)
        ),
      waiting: (models, limit, except = []) =>
        access(() =>
          Array.from(generations.values())
            .filter(({ id, model, status }) =>
              models.includes(model) && (status === "pending" || status === "queued") && !except.includes(id)
            )
            .toSorted((a, b) => a.id < b.id ? -1 : 1)
            .slice(0, limit)
            .map(({ account, id, plan }) => ({ account, id, plan }))
        ),
      expired: (now, limit) => {
        const dueAt = ({ id, resultExpiresAt }: Generation) =>
          Math.max(Number(resultExpiresAt?.epochMilliseconds), putOff.get(id)?.epochMilliseconds ?? 0)
        return access(() =>
          Array.from(generations.values())
            .filter((generation) => generation.output !== null && dueAt(generation) <= now.epochMilliseconds)
            .toSorted((a, b) => dueAt(a) - dueAt(b))
            .slice(0, limit)
            .map(({ id, output }) => ({ id, output: output ?? undefined }))
        )
      },
      putOff: (ids, until) => access(() => ids.forEach((id) => putOff.set(id, until))),
      clearOutput: (ids) =>
        access(() =>
          ids.forEach((id) => {
            change(id, ["completed"], { output: null })
            putOff.delete(id)
          })
        )
    })
  })
)

const isSelected = (generation: Generation, { before, kind, plan, status }: Selection): boolean =>
  (status === undefined || generation.status === status) &&
  (kind === undefined || generation.kind === kind) &&
  (plan === undefined || generation.plan === plan) &&
  (before === undefined || generation.id < before)

const dayOf = (at: DateTime.Utc): string => DateTime.formatIso(at).slice(0, 10)

const orderOf = ({ day, kind, model, plan }: UsageRow): string => [day, plan, model, kind].join("\0")
