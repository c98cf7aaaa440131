/** Models that use every part of the contract: modes, parameters of every type, prices by parameters, input images. */
import type { ModelInput } from "@kinora/catalog/Model"

const common = {
  studio_eligible: true,
  max_prompt_chars: 200,
  driver: { name: "local", options: {} },
  time_limit: "1 minute"
} as const

/** An image model in both plan groups. */
export const image: ModelInput = {
  ...common,
  id: "fuzzed-image",
  name: "Fuzzed image",
  kind: "image",
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 2,
  params_schema: [
    { name: "aspect_ratio", type: "string", values: ["1:1", "16:9"], default: "1:1" },
    { name: "resolution", type: "string", values: ["1k", "2k"], default: "1k" }
  ],
  price_table: [{ params: {}, credits: 1 }, { params: { resolution: "2k" }, credits: 3 }],
  output_formats: ["image/png"]
}

/** A video model that Studio does not include. */
export const video: ModelInput = {
  ...common,
  id: "fuzzed-video",
  name: "Fuzzed video",
  kind: "video",
  studio_eligible: false,
  capabilities: ["text_to_video"],
  params_schema: [{ name: "duration", type: "int", min: 1, max: 10, default: 5 }],
  price_table: [{ params: {}, credits: 2 }],
  output_formats: ["video/mp4"]
}
