/** Stores that generations left the queue of their lane. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import { Changes } from "../Changes.ts"
import type { GenerationId } from "../Generation.ts"
import { GenerationStore } from "../GenerationStore.ts"

/** Makes a function that sets promoted generations to `queued` in the open unit of work, and announces them after its commit. */
export const makeQueuePromoted = Effect.gen(function*() {
  const { afterCommit } = yield* UnitOfWork
  const changes = yield* Changes
  const store = yield* GenerationStore

  return Effect.fnUntraced(function*(promoted: ReadonlyArray<GenerationId>) {
    if (promoted.length === 0) return
    yield* Pipelining.atCommit(store.queue(promoted))
    yield* afterCommit(changes.publish(promoted))
  })
})
