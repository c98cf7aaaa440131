/** Checks that refuse a request before its images are decoded and its content is moderated. */
import { Accounts } from "@kinora/accounts/Accounts"
import { Ledger } from "@kinora/ledger/Ledger"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import { type DateTime, Effect, Result } from "effect"
import type { CreateCommand } from "../../CreateCommand.ts"
import { laneOf } from "../jobAddress.ts"
import { refuse } from "../refuse.ts"
import { creditsOf, type JobTerms } from "./admission.ts"
import { ofBudget, ofCharge, ofQueue } from "./refusals.ts"

/** A job that may be refused. */
export interface CheckRequest {
  readonly command: Pick<CreateCommand, "account" | "budgetLine" | "plan">
  readonly terms: JobTerms
  readonly at: DateTime.Utc
}

/**
 * Makes a function that refuses a job for which the budget of the API key, the credits, the quota
 * or the places in the queue do not suffice now. It reads without locks; the unit of work that creates the job decides.
 */
export const makeCheapChecks = Effect.gen(function*() {
  const { spending } = yield* Accounts
  const ledger = yield* Ledger
  const scheduler = yield* Scheduler

  return Effect.fn("Generations.cheapChecks")(function*({ at, command, terms }: CheckRequest) {
    const { account: { id: account }, budgetLine, plan } = command
    if (budgetLine !== undefined) {
      const checked = yield* spending.check({ line: budgetLine, credits: creditsOf(terms), at })
      if (Result.isFailure(checked)) return yield* refuse(ofBudget(checked.failure, plan))
    }
    yield* ledger.check({ account, amount: terms.amount, at }).pipe(
      Effect.catchTag("LedgerError", ({ reason }) => {
        const isOfCharge = reason._tag === "InsufficientCredits" || reason._tag === "QuotaExceeded" ||
          reason._tag === "AlreadyCharged"
        return isOfCharge ? refuse(ofCharge(reason, plan)) : Effect.die(reason)
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
