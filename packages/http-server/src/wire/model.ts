/** Models on the wire. */
import type { Model } from "@kinora/catalog"
import type * as Wire from "@kinora/http-api/Model"

/** Converts a model to its encoded form, without the properties that only the service uses. */
export const toWire = (
  model: Model.Model & { readonly status: (typeof Wire.Model.Encoded)["status"] }
): typeof Wire.Model.Encoded => ({
  id: model.id,
  name: model.name,
  kind: model.kind,
  studio_eligible: model.studio_eligible,
  status: model.status,
  capabilities: model.capabilities,
  max_reference_images: model.max_reference_images,
  max_prompt_chars: model.max_prompt_chars,
  params_schema: model.params_schema,
  price_table: model.price_table.map(({ credits, params }) => ({ params, credits }))
})
