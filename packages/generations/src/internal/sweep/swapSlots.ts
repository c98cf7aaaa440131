/** Gives the slots of jobs whose models no worker runs to other jobs of their accounts. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { Effect } from "effect"
import { Changes } from "../../Changes.ts"
import { GenerationId } from "../../Generation.ts"
import { GenerationStore } from "../../GenerationStore.ts"
import { makeQueuePromoted } from "../queuePromoted.ts"

/** Makes the sweep. It returns how many jobs got a slot. */
export const makeSwapSlots = Effect.gen(function*() {
  const { afterCommit, atomically } = yield* UnitOfWork
  const changes = yield* Changes
  const scheduler = yield* Scheduler
  const store = yield* GenerationStore
  const queuePromoted = yield* makeQueuePromoted

  return Effect.fn("GenerationSweep.swapSlots")(function*(limit: number) {
    const { displaced, promoted } = yield* scheduler.swapSlots(limit)
    if (promoted.length === 0) return 0
    const pending = displaced.map(({ job }) => GenerationId.fromUuid(job))
    yield* store.unqueue(pending)
    yield* afterCommit(changes.publish(pending))
    yield* queuePromoted(promoted.map(({ job }) => GenerationId.fromUuid(job)))
    return promoted.length
  }, atomically)
})
