/** Models for tests: one of each kind, with every type of parameter. */
import { Result } from "effect"
import * as Catalog from "../src/Catalog.ts"
import * as DefaultModels from "../src/DefaultModels.ts"
import type { Model, ModelInput } from "../src/Model.ts"

export const film: ModelInput = {
  id: "film-1",
  name: "Film",
  kind: "video",
  capabilities: ["text_to_video", "image_to_video"],
  max_reference_images: 2,
  max_prompt_chars: 10,
  params_schema: [
    { name: "duration", type: "int", default: 5, min: 2, max: 12 },
    { name: "resolution", type: "string", default: "720p", values: ["720p", "1080p"] },
    { name: "audio", type: "boolean", default: true },
    { name: "seed", type: "int", min: 0, max: 100 },
    { name: "speed", type: "int", default: 24, values: [24, 30] }
  ],
  price_table: [
    { params: {}, credits: 10 },
    { params: { duration: 12 }, credits: 20 },
    { params: { duration: 12, resolution: "1080p" }, credits: 40 },
    { params: { duration: 12, resolution: "1080p", mode: "image_to_video" }, credits: 50 }
  ],
  driver: { name: "test" },
  time_limit: "10 minutes",
  output_formats: ["video/mp4"]
}

/** The model of an input that is known to be good. */
export const parseOne = (input: unknown): Model => {
  const [model] = Result.getOrThrow(Catalog.parse([input]))
  if (model === undefined) throw new Error("no model")
  return model
}

export const filmModel = parseOne(film)
export const stillModel = parseOne(DefaultModels.still)
export const motionModel = parseOne(DefaultModels.motion)
export const draftModel = parseOne(DefaultModels.draft)
