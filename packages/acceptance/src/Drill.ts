/** Models that make nothing but files after a time, so that a test decides how long jobs take and how they end. */
import type { ModelInput } from "@kinora/catalog/Model"

/** What jobs of a model do. */
export interface DrillOptions {
  readonly id: string
  /** Price of a job. Default 1. */
  readonly credits?: number
  /** How long a job takes, written `5 seconds`. Default: no time at all. */
  readonly delay?: string
  /** How every job fails. Default: it succeeds. */
  readonly failure?: "content_rejected" | "generation_failed"
}

/** An image model on the scripted driver, open to both plan groups. */
export const model = ({ credits = 1, delay, failure, id }: DrillOptions): ModelInput => ({
  id,
  name: id,
  kind: "image",
  studio_eligible: true,
  capabilities: ["text_to_image"],
  max_prompt_chars: 1000,
  params_schema: [],
  price_table: [{ params: {}, credits }],
  driver: {
    name: "scripted",
    options: { bytes: 4096, ...(delay !== undefined && { delay }), ...(failure !== undefined && { failure }) }
  },
  time_limit: "10 minutes",
  output_formats: ["image/png"]
})
