/** Models that make nothing but files after a time, so that a test decides how long jobs take and how they end. */
import type { ModelInput } from "@kinora/catalog/Model"

/** What jobs of a model do, and what else the model has that is not the usual. */
export interface DrillOptions extends Partial<Omit<ModelInput, "driver">> {
  readonly id: string
  /** Price of a job. Default 1. */
  readonly credits?: number
  /** How long a job takes, written `5 seconds`. Default: no time at all. */
  readonly delay?: string
  /** How every job fails. Default: it succeeds. */
  readonly failure?: "content_rejected" | "generation_failed" | "invalid_input" | "upstream_error" | "upstream_timeout"
  /** Size of a result. Default 4 KiB. */
  readonly bytes?: number
}

/** A model on the scripted driver, open to both plan groups; an image model unless `kind` says otherwise. */
export const model = ({ bytes = 4096, credits = 1, delay, failure, ...rest }: DrillOptions): ModelInput => ({
  name: rest.id,
  kind: "image",
  studio_eligible: true,
  capabilities: [`text_to_${rest.kind ?? "image"}`],
  max_prompt_chars: 1000,
  params_schema: [],
  price_table: [{ params: {}, credits }],
  driver: {
    name: "scripted",
    options: { bytes, ...(delay !== undefined && { delay }), ...(failure !== undefined && { failure }) }
  },
  time_limit: "10 minutes",
  output_formats: [rest.kind === "video" ? "video/mp4" : "image/png"],
  ...rest
})
