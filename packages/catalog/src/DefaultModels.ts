/** The default models of a service without configuration. The procedural generator draws their images on any machine. */
import type { ModelInput, ParamSchema } from "./Model.ts"

const aspectRatio: ParamSchema = {
  name: "aspect_ratio",
  type: "string",
  default: "1:1",
  values: ["1:1", "3:2", "2:3", "16:9", "9:16", "4:3", "3:4"]
}

/** Fast and small. Included in the Studio plan. */
export const sketch: ModelInput = {
  id: "kinora-sketch-1",
  name: "Kinora Sketch",
  kind: "image",
  status: "available",
  studio_eligible: true,
  capabilities: ["text_to_image"],
  max_reference_images: 0,
  max_prompt_chars: 2000,
  params_schema: [aspectRatio, { name: "resolution", type: "string", default: "1k", values: ["1k"] }],
  price_table: [{ params: {}, credits: 2 }],
  driver: { name: "procedural", options: {} },
  time_limit: "2 minutes",
  response_format: "url",
  output_formats: ["image/png"]
}

/** Up to 2k, with reference images. Costs credits. */
export const canvas: ModelInput = {
  id: "kinora-canvas-1",
  name: "Kinora Canvas",
  kind: "image",
  status: "available",
  studio_eligible: false,
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 4,
  max_prompt_chars: 4000,
  params_schema: [aspectRatio, { name: "resolution", type: "string", default: "1k", values: ["1k", "2k"] }],
  price_table: [
    { params: { resolution: "1k" }, credits: 8 },
    { params: { resolution: "2k" }, credits: 16 }
  ],
  driver: { name: "procedural", options: {} },
  time_limit: "5 minutes",
  response_format: "url",
  output_formats: ["image/png"]
}

/** All default models. */
export const models: ReadonlyArray<ModelInput> = [sketch, canvas]
