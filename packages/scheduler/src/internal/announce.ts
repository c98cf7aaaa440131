/** Wakes workers after jobs were queued. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import { Wakeup } from "../Wakeup.ts"

/** Creates an effect that wakes the workers of all processes when the surrounding unit commits, or immediately without one. */
export const makeAnnounce = Effect.gen(function*() {
  const { afterCommit, isOpen } = yield* UnitOfWork
  const { announce, wake } = yield* Wakeup
  // Without a unit the jobs are queued already. Workers that are not notified find them by polling.
  const announceAny = Effect.flatMap(
    isOpen,
    (open) => open ? announce : Effect.ignore(announce, { log: "Warn" })
  )
  return Effect.andThen(announceAny, afterCommit(wake))
})
