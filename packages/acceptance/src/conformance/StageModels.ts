/** The models on every stage: those of the product, and drills for each way in which a job can go. */
import { DefaultModels } from "@kinora/catalog"
import type { ModelInput, ParamSchema } from "@kinora/catalog/Model"
import * as Drill from "../Drill.ts"

const aspectRatio: ParamSchema = {
  name: "aspect_ratio",
  type: "string",
  default: "1:1",
  values: ["1:1", "3:2", "2:3", "16:9", "9:16"]
}

const resolution: ParamSchema = { name: "resolution", type: "string", default: "1k", values: ["1k", "2k"] }

/** A model that one of two servers withdraws while the other still offers it. */
export const withdrawnLater = "withdrawn-later"

/** Longer than any test runs. */
const forEver = { delay: "30 minutes", time_limit: "1 hour" }

/** See the head of the module. The id of each describes its behaviour. */
export const models: ReadonlyArray<ModelInput> = [
  ...DefaultModels.models,
  Drill.model({
    id: "picture",
    name: "Picture of the test",
    capabilities: ["text_to_image", "image_to_image"],
    max_reference_images: 2,
    params_schema: [aspectRatio, resolution, { name: "duration", type: "int", min: 2, max: 4 }],
    price_table: [
      { params: {}, credits: 4 },
      { params: { resolution: "2k" }, credits: 8 },
      { params: { resolution: "2k", aspect_ratio: "16:9" }, credits: 10 }
    ]
  }),
  Drill.model({
    id: "film",
    kind: "video",
    capabilities: ["text_to_video", "image_to_video"],
    max_reference_images: 1,
    params_schema: [aspectRatio, { name: "duration", type: "int", default: 5, min: 2, max: 10 }],
    credits: 20
  }),
  Drill.model({ id: "credits-only", studio_eligible: false, credits: 3 }),
  Drill.model({ id: "dear", credits: 10 }),
  Drill.model({ id: "short-prompt", max_prompt_chars: 3 }),
  Drill.model({ id: "large", bytes: 200_000 }),
  Drill.model({ id: "soon", delay: "300 millis" }),
  Drill.model({ id: "in-a-minute", delay: "1 minute" }),
  Drill.model({ id: "in-140-seconds", delay: "140 seconds" }),
  Drill.model({ id: "slow", ...forEver }),
  Drill.model({ id: "slow-film", kind: "video", ...forEver }),
  Drill.model({ id: "over-time", delay: "1 hour", time_limit: "1 second" }),
  Drill.model({ id: "fails", failure: "generation_failed" }),
  Drill.model({ id: "film-fails", kind: "video", failure: "generation_failed" }),
  Drill.model({ id: "rejects", failure: "content_rejected" }),
  Drill.model({ id: "finds-invalid", failure: "invalid_input" }),
  Drill.model({ id: "upstream-fails", failure: "upstream_error" }),
  Drill.model({ id: "upstream-late", failure: "upstream_timeout" }),
  Drill.model({ id: "answers-b64", response_format: "b64_json" }),
  Drill.model({ id: "degraded", status: "degraded" }),
  Drill.model({ id: "paused", status: "paused" }),
  Drill.model({ id: "withdrawn", status: "withdrawn" }),
  Drill.model({ id: withdrawnLater, credits: 10 })
]
