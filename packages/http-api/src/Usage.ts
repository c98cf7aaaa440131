/** What an account's jobs came to, by UTC day of their end (D36). */
import { Schema } from "effect"
import { Int64, Plan } from "./Scalar.ts"

/** The jobs of one day, plan group, model and kind. */
export const UsageRow = Schema.Struct({
  /** UTC day, YYYY-MM-DD. */
  day: Schema.String,
  plan: Plan,
  model: Schema.String,
  kind: Schema.Literals(["image", "video"]),
  completed: Int64,
  failed: Int64,
  cancelled: Int64,
  /** Credits charged by completed jobs; 0 for the studio plan. */
  credits: Int64
}).annotate({ identifier: "UsageRow" })

/** The report from one day to another, both included. */
export const UsageReport = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  /** Sorted by day, plan and model; only days with jobs. */
  data: Schema.NullOr(Schema.Array(UsageRow)),
  totals: Schema.Struct({ completed: Int64, credits: Int64 })
}).annotate({ identifier: "UsageReport" })
/** See the schema of the same name. */
export type UsageReport = typeof UsageReport.Type
