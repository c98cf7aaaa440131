/** The models of the service. */
import { Schema } from "effect"
import { field, flag, int, nullable, object, optional, text } from "./internal/fields.ts"
import { Int64 } from "./Scalar.ts"

/** A parameter that a model accepts. */
export const PublicSchemaParam = object("PublicSchemaParam", "A parameter that the model accepts.", {
  name: text("The name of the parameter in `params`."),
  type: text("The type of the value: `string`, `int` or `boolean`."),
  default: optional(Schema.Json, "The value if the request has none."),
  min: optional(Int64, "The least value."),
  max: optional(Int64, "The greatest value."),
  values: optional(Schema.NullOr(Schema.Array(Schema.Json)), "The accepted values.")
})

/** The price of jobs whose parameters match. */
export const PublicPrice = object(
  "PublicPrice",
  "The price of jobs whose parameters match. The most specific applies.",
  {
    params: field(Schema.Record(Schema.String, Schema.Json), "The parameters and their values."),
    credits: int("The price in credits.")
  }
)

/** A model. */
export const Model = object("PublicModel", "A model.", {
  id: text("The id of the model."),
  name: text("The name of the model, for people."),
  kind: field(Schema.Literals(["image", "video"]), "What the model produces."),
  studio_eligible: flag("Whether the Studio plan includes the model."),
  status: field(
    Schema.Literals(["available", "degraded", "paused"]),
    "`degraded` models are slower than usual. `paused` models accept no new jobs."
  ),
  capabilities: nullable(Schema.Array(Schema.String), "The modes of the model, such as `text_to_image`."),
  max_reference_images: int("The maximum number of input images."),
  max_prompt_chars: int("The maximum length of a prompt in Unicode code points."),
  params_schema: nullable(Schema.Array(PublicSchemaParam), "The parameters that the model accepts."),
  price_table: nullable(Schema.Array(PublicPrice), "The prices of the model.")
})
/** See the schema of the same name. */
export type Model = typeof Model.Type

/** The models of the service. */
export const ModelList = object("ModelList", "The models of the service.", {
  data: nullable(Schema.Array(Model), "The models.")
})
/** See the schema of the same name. */
export type ModelList = typeof ModelList.Type
