/** Jobs in the admin API. */
import { Schema } from "effect"
import { AdminWebhookDelivery } from "./AdminWebhook.ts"
import { Kind, PublicError, Status } from "./Generation.ts"
import { field, flag, int, list, nullable, object, text, time } from "./internal/fields.ts"
import { page } from "./internal/pages.ts"
import { DateTime, Int64, Plan } from "./Scalar.ts"

/** A job, without links to its files. */
export const AdminGeneration = object("AdminGeneration", "A job, without links to its files.", {
  id: text("The id of the job, `gen_…`."),
  account: text("The id of the account that owns the job and paid for it."),
  key_id: nullable(Schema.String, "The id of the API key that created the job, `key_…`; `null` if none is recorded."),
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

/** A webhook event of a job, or an attempt to send it. */
const AdminStepWebhook = object("AdminStepWebhook", "A webhook event of a job, or an attempt to send it.", {
  event_id: text("The id of the event."),
  type: text("The type of the event."),
  endpoint_id: nullable(Schema.String, "The id of the endpoint of the attempt; `null` for an event."),
  delivery_id: nullable(Schema.String, "The id of the delivery of the attempt; `null` for an event."),
  attempt: nullable(Int64, "The number of the attempt, from 1, since the last resend; `null` for an event."),
  http_status: nullable(Int64, "The HTTP status of the response; `null` for an event and without a response."),
  reason: nullable(Schema.String, "The outcome of the attempt, such as `ok` or `timeout`; `null` for an event.")
})

/** An attempt of a job by a worker. */
const AdminStepAttempt = object("AdminStepAttempt", "An attempt of a job by a worker.", {
  number: int("Its number, from 1. An attempt that was returned or requeued has the number of the next one."),
  worker: text("The name of the worker.")
})

/** A step of a job. */
const AdminStep = object("AdminStep", "A step of a job.", {
  at: time("When it was taken."),
  step: field(
    Schema.Literals([
      "created",
      "charged",
      "started",
      "lost",
      "returned",
      "requeued",
      "completed",
      "failed",
      "failed_by_operator",
      "cancelled",
      "refunded",
      "event_published",
      "event_sent"
    ]),
    "What happened. A worker `started` an attempt; the worker was `lost`, it `returned` the job to the queue, or an " +
      "operator `requeued` it. `event_published` is a webhook event, and `event_sent` an attempt to " +
      "send it to an endpoint. The other steps occur at most once."
  ),
  amount: nullable(Int64, "For `charged` and `refunded`, the credits; `null` for other steps."),
  attempt: nullable(
    AdminStepAttempt,
    "For `started`, `lost`, `returned` and `requeued`, the attempt; `null` for other steps, and for a start that was " +
      "recorded without its attempt."
  ),
  webhook: nullable(AdminStepWebhook, "For `event_published` and `event_sent`, the event; `null` for other steps.")
})

const detail = "A job, its place in the queue, its steps, and the deliveries of its webhook events."

/** A job, its place in the queue, its steps, and the deliveries of its webhook events. */
export const AdminGenerationDetail = object("AdminGenerationDetail", detail, {
  ...AdminGeneration.fields,
  run: nullable(AdminRun, "The job in the queue; `null` if it has ended."),
  timeline: list(AdminStep, "The steps of the job, oldest first."),
  deliveries: list(
    AdminWebhookDelivery,
    "The deliveries of its webhook events to endpoints that still exist, newest first, at most 100. They are deleted " +
      "some days after they ended."
  )
})
/** See the schema of the same name. */
export type AdminGenerationDetail = typeof AdminGenerationDetail.Type

/** A page of jobs, newest first. */
export const AdminGenerationList = page("AdminGenerationList", AdminGeneration, "jobs, newest first")
