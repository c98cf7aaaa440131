/** Models without a real generator. A test decides how long their jobs take and how they end. */
import type { ModelInput } from "@kinora/catalog/Model"

/** Options of a drill model. */
export interface DrillOptions extends Partial<Omit<ModelInput, "driver">> {
  readonly id: string
  /** Price of a job. Default 1. */
  readonly credits?: number
  /** Duration of a job, such as `5 seconds`. Default: none. */
  readonly delay?: string
  /** How every job fails. Default: it succeeds. */
  readonly failure?: "content_rejected" | "generation_failed" | "invalid_input" | "upstream_error" | "upstream_timeout"
  /** Size of a result. Default 4 KiB. */
  readonly bytes?: number
}

/** A model on the scripted driver, available in both plan groups. Default kind: image. */
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
