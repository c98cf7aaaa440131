/** Usage reports. */
import { Schema } from "effect"
import { Kind } from "./Generation.ts"
import { field, int, nullable, object, optional, text } from "./internal/fields.ts"
import { Plan } from "./Scalar.ts"

/** An API key, without its secret. */
export const UsageKey = object("UsageKey", "An API key, without its secret.", {
  id: text("The id of the key, `key_…`."),
  name: nullable(Schema.String, "The name of the key; `null` once the key is deleted.")
})

/** The jobs of one day, plan group, model and kind. */
export const UsageRow = object("UsageRow", "The jobs of one day, plan group, model and kind.", {
  day: text("The UTC day on which the jobs ended, YYYY-MM-DD."),
  plan: field(Plan, "The plan group that was charged."),
  model: text("The id of the model."),
  kind: field(Kind, "What the model produces."),
  key: optional(
    Schema.NullOr(UsageKey),
    "With `group_by=key`, the API key that created the jobs; `null` if none is recorded."
  ),
  completed: int("Completed jobs."),
  failed: int("Failed jobs."),
  cancelled: int("Cancelled jobs."),
  credits: int("Credits charged for completed jobs; 0 for the Studio plan.")
})

/** The usage of an account over several days. */
export const UsageReport = object("UsageReport", "The usage of the account over several days.", {
  from: text("The first UTC day, YYYY-MM-DD."),
  to: text("The last UTC day, YYYY-MM-DD."),
  data: nullable(Schema.Array(UsageRow), "Rows sorted by day, plan group and model. Days without jobs have none."),
  totals: field(
    Schema.Struct({ completed: int("Completed jobs."), credits: int("Credits charged for completed jobs.") }),
    "Totals over all rows."
  )
})
/** See the schema of the same name. */
export type UsageReport = typeof UsageReport.Type
