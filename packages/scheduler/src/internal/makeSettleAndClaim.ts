/** Ends jobs without a unit of work, and leases those that get their slots. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import type { JobAddress, Lease } from "../Job.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import { makeAnnounce } from "./announce.ts"
import { makeWithoutUnit } from "./direct.ts"
import type { RefillTerms, Settled } from "./storeTypes.ts"

/** Creates the operation. */
export const makeSettleAndClaim = Effect.gen(function*() {
  const { isOpen } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const announce = yield* makeAnnounce
  const withoutUnit = yield* makeWithoutUnit

  return Effect.fn("Scheduler.settleAndClaim")(
    function*(ended: ReadonlyArray<Lease & JobAddress>, terms: RefillTerms = noClaim) {
      const nothing: Settled = { left: ended.map(({ job }) => job), claimed: [], hasQueued: false }
      if (ended.length === 0 || (yield* isOpen)) return nothing
      const settled = yield* withoutUnit("Scheduler.settleAndClaim", store.settleAndClaim(ended, terms)).pipe(
        // A build before this one changes which jobs of a lane wait without changing its row, and a constraint refuses the statement.
        Effect.catchIf(
          ({ reason }) => reason === "failed",
          (error) =>
            Effect.as(
              Effect.logDebug("Jobs were not settled in one statement, and are settled in a unit", error),
              nothing
            )
        )
      )
      if (settled === undefined) return nothing
      if (settled.hasQueued) yield* announce(settled.kinds)
      return settled
    }
  )
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Leases no job. */
const noClaim: RefillTerms = { lease: "", worker: "", kinds: [], limit: 0 }
