/** Workers and queues in the admin API. */
import { Schema } from "effect"
import { Kind } from "./Generation.ts"
import { field, int, list, nullable, object, text, time } from "./internal/fields.ts"
import { page } from "./internal/pages.ts"
import { DateTime, Int64, Plan } from "./Scalar.ts"

/** A worker whose lease holds. */
export const AdminWorker = object("AdminWorker", "A worker that runs jobs.", {
  id: text("The id of the worker, unique per start."),
  name: text("The name of the worker: its host, and its role."),
  status: field(
    Schema.Literals(["running", "draining", "drained"]),
    "`draining` workers claim no more jobs, and finish those that they run. `drained` ones run none, and can be resumed."
  ),
  models: list(Schema.String, "The ids of the models whose jobs it claims."),
  concurrency: int("The maximum number of jobs that it runs at the same time."),
  running_jobs: int("The jobs that it runs."),
  started_at: nullable(DateTime, "When it started; `null` for a worker of a version that does not record it."),
  lease_until: time("When other workers take over its jobs, unless it renews its lease before.")
})

/** A page of workers, by id. */
export const AdminWorkerList = page("AdminWorkerList", AdminWorker, "workers, by id")

const withSlot = {
  queued: int("The jobs that hold a slot and wait for a worker."),
  processing: int("The jobs that a worker runs.")
}

/** The jobs of a model that have not ended. */
export const AdminModelQueue = object("AdminModelQueue", "The jobs of a model that have not ended.", {
  model: text("The id of the model."),
  kind: nullable(Kind, "What the model produces; `null` for a model that the service does not have."),
  pending: int("The jobs that wait for a slot of their account."),
  ...withSlot,
  oldest_wait_seconds: nullable(Int64, "How long ago the oldest queued job was created; `null` if none is queued."),
  workers: int("The workers that claim jobs of the model.")
})
/** See the schema of the same name. */
export type AdminModelQueue = typeof AdminModelQueue.Type

/** A page of the queues of models, by the id of the model. */
export const AdminModelQueueList = page("AdminModelQueueList", AdminModelQueue, "queues, by the id of their model")

/** The jobs of an account in a plan group that have not ended. */
export const AdminLane = object("AdminLane", "The jobs of an account in a plan group that have not ended.", {
  account: text("The id of the account."),
  plan: field(Plan, "The plan group."),
  slots: int("The number of jobs that can hold a slot at the same time."),
  pending: int("The jobs that wait for a slot."),
  ...withSlot
})

/** A page of lanes, by account and plan group. */
export const AdminLaneList = page("AdminLaneList", AdminLane, "lanes, by account and plan group")
