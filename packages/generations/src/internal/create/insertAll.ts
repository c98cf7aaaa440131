/** Inserts new generations, and queues older ones that a higher cap promoted. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import { Changes } from "../../Changes.ts"
import type { Generation, GenerationId } from "../../Generation.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import * as Metrics from "../metrics.ts"
import { makeQueuePromoted } from "../queuePromoted.ts"

/** Makes a function that inserts the accepted generations. Returns the results with the status that was inserted. */
export const makeInsertAll = Effect.gen(function*() {
  const { afterCommit } = yield* UnitOfWork
  const changes = yield* Changes
  const queuePromoted = yield* makeQueuePromoted
  const store = yield* GenerationStore

  return Effect.fnUntraced(function*<Refusal>(
    placed: ReadonlyArray<Result.Result<Generation, Refusal>>,
    promoted: ReadonlyArray<GenerationId>
  ) {
    const queued = new Set(promoted)
    const results = placed.map(
      Result.map((generation): Generation =>
        queued.has(generation.id) ? { ...generation, status: "queued" } : generation
      )
    )
    const inserted = results.filter(Result.isSuccess).map(({ success }) => success)
    if (inserted.length > 0) {
      yield* Pipelining.atCommit(store.insert(inserted))
      yield* afterCommit(Metrics.created(inserted))
      yield* afterCommit(changes.publish(inserted.map(({ id }) => id)))
    }
    for (const { id } of inserted) queued.delete(id)
    yield* queuePromoted(Array.from(queued))
    return results
  })
})
