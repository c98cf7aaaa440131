/** Checks that refuse a request before its images are decoded and its content is moderated. */
import type { Account } from "@kinora/accounts/Account"
import { Ledger } from "@kinora/ledger/Ledger"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { type DateTime, Effect } from "effect"
import type { Plan } from "../../Generation.ts"
import { laneOf } from "../jobAddress.ts"
import { refuse } from "../refuse.ts"
import type { JobTerms } from "./admission.ts"
import { ofCharge, ofQueue } from "./refusals.ts"

/** A job that may be refused. */
export interface CheckRequest {
  readonly account: Account["id"]
  readonly plan: Plan
  readonly terms: JobTerms
  readonly at: DateTime.Utc
}

/**
 * Makes a function that refuses a job for which the credits, the quota or the places in the
 * queue do not suffice now. It reads without locks; the unit of work that creates the job decides.
 */
export const makeCheapChecks = Effect.gen(function*() {
  const ledger = yield* Ledger
  const scheduler = yield* Scheduler

  return Effect.fn("Generations.cheapChecks")(function*({ account, at, plan, terms }: CheckRequest) {
    yield* ledger.check({ account, amount: terms.amount, at }).pipe(
      Effect.catchTag("LedgerError", ({ reason }) => {
        const isOther = reason._tag === "UnknownCharge" || reason._tag === "UnknownLot" ||
          reason._tag === "GrantExpired"
        if (isOther) return Effect.die(reason)
        return refuse(ofCharge(reason, plan))
      })
    )
    yield* scheduler.checkRoom({ ...laneOf({ account, plan }), cap: terms.concurrency }).pipe(
      Effect.catchTag(
        "SchedulerError",
        ({ reason }) => reason._tag === "QueueFull" ? refuse(ofQueue(reason, plan)) : Effect.die(reason)
      )
    )
  })
})
