/** Wakes workers after jobs were queued. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { Kinds } from "@kinora/persistence/Waking"
import { Effect } from "effect"
import { Wakeup } from "../Wakeup.ts"

/**
 * Creates a function that wakes the workers of all processes that claim one of these kinds, when the surrounding unit commits,
 * or immediately without one. Without kinds, it wakes all workers.
 */
export const makeAnnounce = Effect.gen(function*() {
  const { afterCommit, isOpen } = yield* UnitOfWork
  const { announce, wakeFor } = yield* Wakeup

  return Effect.fnUntraced(function*(kinds: Kinds) {
    // In order, since Postgres delivers equal notifications of a transaction once.
    const named = kinds && Array.from(new Set(kinds)).toSorted()
    const open = yield* isOpen
    // Without a unit the jobs are queued already. Workers that are not notified find them by polling.
    yield* open ? announce(named) : Effect.ignore(announce(named), { log: "Warn" })
    yield* afterCommit(wakeFor(named))
  })
})
