/**
 * The default models of a service without configuration. The procedural generator paints
 * their images and videos on any machine.
 */
import type { ModelInput, ParamSchema, PriceRow } from "./Model.ts"

const aspectRatio = (values: readonly [string, ...Array<string>]): ParamSchema => ({
  name: "aspect_ratio",
  type: "string",
  default: values[0],
  values
})

const pictureRatio = aspectRatio(["1:1", "3:2", "2:3", "16:9", "9:16", "4:3", "3:4"])

const procedural = { name: "procedural", options: {} }

const disclosure = "Painted by rules, without an AI model."

/** Images of one or four megapixels, from text or from up to 4 images. Costs credits. */
export const still: ModelInput = {
  id: "kinora-still",
  name: "Kinora Still (procedural)",
  description: `Images of one or four megapixels, from text or in the composition of up to 4 images. ${disclosure}`,
  kind: "image",
  status: "available",
  studio_eligible: false,
  capabilities: ["text_to_image", "image_to_image"],
  max_reference_images: 4,
  max_prompt_chars: 4000,
  params_schema: [pictureRatio, { name: "resolution", type: "string", default: "1k", values: ["1k", "2k"] }],
  price_table: [
    { params: { resolution: "1k" }, credits: 8 },
    { params: { resolution: "2k" }, credits: 16 }
  ],
  driver: procedural,
  time_limit: "5 minutes",
  response_format: "url",
  output_formats: ["image/png"]
}

/** Durations of videos, in seconds. The procedural generator supports these. */
const seconds = { min: 2, max: 10 }

/** Returns a price row for each duration of a resolution. */
const pricesPerSecond = (resolution: string, credits: number): ReadonlyArray<PriceRow> =>
  Array.from({ length: seconds.max - seconds.min + 1 }, (_, index) => {
    const duration = seconds.min + index
    return { params: { resolution, duration }, credits: credits * duration }
  })

/** Videos of 2 to 10 seconds, from text or a first frame. Included in the Studio plan. */
export const motion: ModelInput = {
  id: "kinora-motion",
  name: "Kinora Motion (procedural)",
  description: `Videos of 2 to 10 seconds without sound, from text or with an image as the first frame. ${disclosure}`,
  kind: "video",
  status: "available",
  studio_eligible: true,
  capabilities: ["text_to_video", "image_to_video"],
  max_reference_images: 1,
  max_prompt_chars: 4000,
  params_schema: [
    aspectRatio(["16:9", "9:16", "1:1", "4:3", "3:4"]),
    { name: "duration", type: "int", default: 4, ...seconds },
    { name: "resolution", type: "string", default: "720p", values: ["480p", "720p", "1080p"] }
  ],
  price_table: [
    ...pricesPerSecond("480p", 5),
    ...pricesPerSecond("720p", 10),
    ...pricesPerSecond("1080p", 20)
  ],
  driver: procedural,
  time_limit: "15 minutes",
  response_format: "url",
  output_formats: ["video/mp4"]
}

/** Fast, small images from text. Included in the Studio plan. */
export const draft: ModelInput = {
  id: "kinora-draft",
  name: "Kinora Draft (procedural)",
  description: `Fast images of a quarter of a megapixel or one, from text. ${disclosure}`,
  kind: "image",
  status: "available",
  studio_eligible: true,
  capabilities: ["text_to_image"],
  max_reference_images: 0,
  max_prompt_chars: 2000,
  params_schema: [pictureRatio, { name: "resolution", type: "string", default: "512px", values: ["512px", "1k"] }],
  price_table: [
    { params: { resolution: "512px" }, credits: 1 },
    { params: { resolution: "1k" }, credits: 2 }
  ],
  driver: procedural,
  time_limit: "2 minutes",
  response_format: "url",
  output_formats: ["image/png"]
}

/** All default models, with the ids of earlier versions as aliases. */
export const models: ReadonlyArray<ModelInput> = [
  { ...still, aliases: [{ id: "kinora-canvas-1" }] },
  motion,
  // Images of the former model had one megapixel.
  { ...draft, aliases: [{ id: "kinora-sketch-1", defaults: { resolution: "1k" } }] }
]
