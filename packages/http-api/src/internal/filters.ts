/** Filters of lists of jobs. */
import { Schema } from "effect"
import { Kind, Status } from "../Generation.ts"
import { Plan } from "../Scalar.ts"
import { parameter } from "./fields.ts"

/** Filters of jobs by their status, kind and plan group. */
export const jobFilters = {
  status: Schema.optionalKey(Status.annotate({ description: "Returns only jobs with this status." })),
  kind: Schema.optionalKey(Kind.annotate({ description: "Returns only jobs of this kind." })),
  plan: Schema.optionalKey(Plan.annotate({ description: "Returns only jobs of this plan group." }))
}

/** Text that a database can compare: without U+0000, and not too long. */
const filter = (description: string, lengthMax: number, expected: string) =>
  parameter(description).check(
    Schema.makeFilter((text) => !text.includes("\0"), { expected }),
    Schema.isMaxLength(lengthMax)
  )

/** The id of a model. */
export const ModelFilter = filter(
  "Returns only jobs that were created for the model with this id.",
  128,
  "the id of a model"
)

/** The id of an API key. */
export const KeyFilter = filter(
  "Returns only jobs that the API key with this id created, `key_…`.",
  128,
  "the id of an API key"
)

/** The maximum length of a text to find in prompts. */
const promptTextMax = 100

/** A text to find in prompts. */
export const PromptFilter = filter(
  "Returns only jobs whose prompt contains this text. A page looks for it in at most 1,000 jobs.",
  promptTextMax,
  "text without U+0000"
).check(Schema.isMinLength(1))
