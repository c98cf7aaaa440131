/** A model as clients see it: exactly the fields of the interface. */
import type { Model } from "@kinora/catalog"
import type * as Wire from "@kinora/http-api/Model"

/** The model in its encoded form, without what only the service needs to know of it. */
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
