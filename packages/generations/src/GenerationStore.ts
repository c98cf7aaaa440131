/**
 * What the use-cases need from storage. A store remembers; which change is allowed
 * is decided by `Generations` under the locks of ledger and scheduler. A change
 * names the states that it may start from, so a late one changes nothing.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, Effect, Layer } from "effect"
import type { Failure, Generation, GenerationId, Output } from "./Generation.ts"

/** A generation that starts to run. */
export interface Start {
  readonly id: GenerationId
  readonly at: DateTime.Utc
}

/** A generation whose result is stored. */
export interface Completion {
  readonly id: GenerationId
  readonly output: Output
  readonly at: DateTime.Utc
  readonly resultExpiresAt: DateTime.Utc
}

/** A generation that ends without a result and is refunded. */
export interface Ending {
  readonly id: GenerationId
  /** `null` for one that was cancelled. */
  readonly failure: Failure | null
  readonly at: DateTime.Utc
}

/** Keeps generations. Every write belongs to the open unit of work. */
export class GenerationStore extends Context.Service<GenerationStore, {
  /** Adds new generations. */
  readonly insert: (generations: ReadonlyArray<Generation>) => Effect.Effect<void, StorageError>

  /** The generations that exist, in no particular order; at most one for each id. */
  readonly find: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** `pending` to `queued`. */
  readonly queue: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>

  /** `queued` to `processing`. Answers with those that changed: the others had started before. */
  readonly start: (starts: ReadonlyArray<Start>) => Effect.Effect<ReadonlyArray<GenerationId>, StorageError>

  /** `processing` to `completed`. */
  readonly complete: (completions: ReadonlyArray<Completion>) => Effect.Effect<void, StorageError>

  /** Any state that is not final to `failed`, or to `cancelled` when there is no failure; marks it refunded. */
  readonly end: (endings: ReadonlyArray<Ending>) => Effect.Effect<void, StorageError>

  /** Generations of these models that have not started, oldest first. */
  readonly waiting: (
    models: ReadonlyArray<string>,
    limit: number
  ) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** Completed generations whose download window ended at `now` or before and whose files are still kept; oldest first. */
  readonly expired: (now: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<Generation>, StorageError>

  /** Forgets the files of completed generations. The rows stay. */
  readonly clearOutput: (ids: ReadonlyArray<GenerationId>) => Effect.Effect<void, StorageError>
}>()("@kinora/generations/GenerationStore") {}

/** Keeps generations in the memory of this process. */
export const layerMemory: Layer.Layer<GenerationStore, never, MemoryBackend> = Layer.effect(
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
