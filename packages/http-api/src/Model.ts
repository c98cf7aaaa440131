/** The models on sale. */
import { Schema } from "effect"
import { Int64 } from "./Scalar.ts"

/** One parameter that a model takes. */
export const PublicSchemaParam = Schema.Struct({
  name: Schema.String,
  type: Schema.String,
  default: Schema.optionalKey(Schema.Json),
  min: Schema.optionalKey(Int64),
  max: Schema.optionalKey(Int64),
  values: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Json)))
}).annotate({ identifier: "PublicSchemaParam" })

/** The price of the jobs whose parameters match. */
export const PublicPrice = Schema.Struct({
  params: Schema.Record(Schema.String, Schema.Json),
  credits: Int64
}).annotate({ identifier: "PublicPrice" })

/** A model. */
export const Model = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  kind: Schema.Literals(["image", "video"]),
  /** Whether the Studio plan includes it. */
  studio_eligible: Schema.Boolean,
  /** `paused` models are listed and take no new jobs (D9). */
  status: Schema.Literals(["available", "degraded", "paused"]),
  /** Its modes. */
  capabilities: Schema.NullOr(Schema.Array(Schema.String)),
  max_reference_images: Int64,
  /** In Unicode code points. */
  max_prompt_chars: Int64,
  params_schema: Schema.NullOr(Schema.Array(PublicSchemaParam)),
  price_table: Schema.NullOr(Schema.Array(PublicPrice))
}).annotate({ identifier: "PublicModel" })
/** See the schema of the same name. */
export type Model = typeof Model.Type

/** Every model on sale. */
export const ModelList = Schema.Struct({
  data: Schema.NullOr(Schema.Array(Model))
}).annotate({ identifier: "ModelList" })
/** See the schema of the same name. */
export type ModelList = typeof ModelList.Type
