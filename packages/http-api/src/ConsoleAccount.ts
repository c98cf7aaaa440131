/** The figures of an account in the console. */
import { Schema } from "effect"
import { field, int, list, object, text } from "./internal/fields.ts"

/** The running and waiting jobs of a plan group. */
const LaneSummary = object("LaneSummary", "The jobs of a plan group that have not ended.", {
  running: int("Jobs that hold a slot: `queued` and `processing` ones."),
  concurrency: int("The slots of the plan group."),
  waiting: int("Jobs that wait for a slot: `pending` ones.")
})

/** Something that the account should change. */
const SummaryWarning = object("SummaryWarning", "Something that the account should change.", {
  code: field(
    Schema.Literals(["webhook_disabled", "credits_expire", "plan_ends"]),
    "`webhook_disabled`: a webhook endpoint receives no events. `credits_expire`: a lot expires within 7 days. `plan_ends`: a " +
      "plan ends within 7 days."
  ),
  message: text("The warning, for people.")
})

/** The figures of an account. */
export const AccountSummary = object("AccountSummary", "The figures of the account.", {
  jobs: field(
    Schema.Struct({
      pending: int("Jobs that wait for a slot."),
      queued: int("Jobs that wait for a worker."),
      processing: int("Jobs that run.")
    }),
    "The jobs that have not ended, by status."
  ),
  plans: field(
    Schema.Struct({
      studio: field(LaneSummary, "Jobs of the Studio plan."),
      credits: field(LaneSummary, "Jobs that are paid with credits.")
    }),
    "The plan groups."
  ),
  warnings: list(SummaryWarning, "What the account should change.")
})
/** See the schema of the same name. */
export type AccountSummary = typeof AccountSummary.Type
