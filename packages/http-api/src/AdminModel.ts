/** Models in the admin API. */
import { Schema } from "effect"
import { Kind } from "./Generation.ts"
import { field, list, nullable, object, text, time } from "./internal/fields.ts"
import { page } from "./internal/pages.ts"
import { DateTime } from "./Scalar.ts"

/** An upstream that fails in a worker. */
const AdminUpstreamReport = object("AdminUpstreamReport", "An upstream that fails in a worker.", {
  worker: text("The id of the worker."),
  upstream: text("The name of the driver."),
  status: field(
    Schema.Literals(["degraded", "paused"]),
    "`paused`: the worker submits no job to it before `retry_at`."
  ),
  retry_at: time("When a job may test the upstream.")
})

/** A model, and the state of its upstreams. */
export const AdminModel = object("AdminModel", "A model, and the state of its upstreams.", {
  id: text("The id of the model."),
  kind: field(Kind, "What the model produces."),
  status: field(
    Schema.Literals(["available", "degraded", "paused", "withdrawn"]),
    "The status that applies: that of the configuration, or a worse one because of a pause or of failing upstreams."
  ),
  paused_at: nullable(DateTime, "When an operator paused the model; `null` if it is not paused by an operator."),
  upstreams: list(Schema.String, "The drivers that make its results, in the order in which they are used."),
  reports: list(AdminUpstreamReport, "What workers report about these drivers; empty if all work.")
})
/** See the schema of the same name. */
export type AdminModel = typeof AdminModel.Type

/** A page of models, in the order of the configuration, withdrawn ones last. */
export const AdminModelList = page(
  "AdminModelList",
  AdminModel,
  "the models of the catalog, in the order of the configuration, withdrawn ones last"
)
