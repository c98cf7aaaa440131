/** Maps refusals of budgets, of the ledger and of the scheduler to refusals of a job. */
import type { BudgetExceeded } from "@kinora/accounts/KeySpending"
import type { LedgerErrorReason } from "@kinora/ledger/LedgerError"
import type { SchedulerErrorReason } from "@kinora/scheduler/SchedulerError"
import type { Types } from "effect"
import type { Plan } from "../../Generation.ts"
import * as GenerationError from "../../GenerationError.ts"

/** The refusal of a job that its account cannot pay. */
export const ofCharge = (
  refusal: Types.ExtractTag<
    LedgerErrorReason,
    "InsufficientCredits" | "QuotaExceeded" | "AlreadyCharged" | "AlreadyHeld"
  >,
  plan: Plan
): GenerationError.Refusal => {
  switch (refusal._tag) {
    case "InsufficientCredits":
      return new GenerationError.InsufficientCredits({
        plan,
        required: refusal.required,
        available: refusal.available
      })
    case "QuotaExceeded":
      return new GenerationError.QuotaExceeded({ plan, quotaKind: refusal.kind, resetsAt: refusal.resetsAt })
    case "AlreadyCharged":
    case "AlreadyHeld":
      // The reference is an id that was made for this request.
      throw new Error(`The new generation ${refusal.reference} is already charged or held`)
  }
}

/** The refusal of a job that its API key may not spend. */
export const ofBudget = (exceeded: BudgetExceeded, plan: Plan): GenerationError.Refusal =>
  new GenerationError.KeyBudgetExceeded({ plan, ...exceeded })

/** The refusal of a job for which the queue has no place. */
export const ofQueue = (
  refusal: Types.ExtractTag<SchedulerErrorReason, "QueueFull" | "DuplicateJob" | "InvalidJobId" | "InvalidPriority">,
  plan: Plan
): GenerationError.Refusal => {
  switch (refusal._tag) {
    case "QueueFull":
      return new GenerationError.QueueFull({ plan, waitingMax: refusal.max })
    case "DuplicateJob":
      // Jobs have no unique keys.
      throw new Error(`The new generation is a duplicate of ${refusal.job}`)
    case "InvalidJobId":
      // The id of a job is a UUID.
      throw refusal
    case "InvalidPriority":
      // Jobs have no priorities.
      throw refusal
  }
}
