/** Jobs in the admin API. */
import { Schema } from "effect"
import { Kind, PublicError, Status } from "./Generation.ts"
import { field, flag, int, list, nullable, object, text, time } from "./internal/fields.ts"
import { DateTime, Int64, Plan } from "./Scalar.ts"

/** A job, without links to its files. */
export const AdminGeneration = object("AdminGeneration", "A job, without links to its files.", {
  id: text("The id of the job, `gen_…`."),
  account: text("The id of the account that owns the job and paid for it."),
  model: text("The id of the model."),
  kind: field(Kind, "What the model produces."),
  mode: text("The mode, such as `text_to_image`."),
  plan: field(Plan, "The plan group that was charged."),
  status: field(Status, "The state of the job. `completed`, `failed` and `cancelled` are final."),
  prompt: nullable(Schema.String, "The prompt."),
  cost_credits: nullable(Int64, "Credits charged; `null` for the Studio plan."),
  quota_kind: nullable(Kind, "The daily quota charged; `null` for the Credits plan."),
  refunded: flag("Whether the charge was refunded."),
  error: nullable(PublicError, "Why the job failed; `null` unless `status` is `failed`."),
  result_expires_at: nullable(DateTime, "When the result expires; `null` unless `status` is `completed`."),
  created_at: time("When the job was created."),
  started_at: nullable(DateTime, "When the job started."),
  finished_at: nullable(DateTime, "When the job ended.")
})
/** See the schema of the same name. */
export type AdminGeneration = typeof AdminGeneration.Type

/** The job in the queue. */
const AdminRun = object("AdminRun", "A job that has not ended, in the queue.", {
  state: field(
    Schema.Literals(["pending", "queued", "processing"]),
    "`pending` waits for a slot of its account, `queued` for a worker. A job whose worker was lost, or that was " +
      "requeued, is `queued` although its `status` is `processing`."
  ),
  attempt: int("The current or last attempt, from 1; 0 before the first one."),
  worker: nullable(Schema.String, "The name of the current or last worker; `null` before the first one.")
})

/** A step of a job. */
const AdminStep = object("AdminStep", "A step of a job.", {
  at: time("When it was taken."),
  step: field(
    Schema.Literals(["created", "charged", "started", "completed", "failed", "cancelled", "refunded"]),
    "What happened. A job has each step at most once: `started` is its first start."
  ),
  amount: nullable(Int64, "For `charged` and `refunded`, the credits; `null` for other steps.")
})

/** A job, its place in the queue, and its steps. */
export const AdminGenerationDetail = object("AdminGenerationDetail", "A job, its place in the queue, and its steps.", {
  ...AdminGeneration.fields,
  run: nullable(AdminRun, "The job in the queue; `null` if it has ended."),
  timeline: list(AdminStep, "The steps of the job, oldest first.")
})
/** See the schema of the same name. */
export type AdminGenerationDetail = typeof AdminGenerationDetail.Type

/** A page of jobs, newest first. */
export const AdminGenerationList = object("AdminGenerationList", "A page of jobs, newest first.", {
  data: list(AdminGeneration, "The jobs."),
  next_cursor: nullable(Schema.String, "The `cursor` of the next page; `null` on the last page.")
})
/** See the schema of the same name. */
export type AdminGenerationList = typeof AdminGenerationList.Type
