/** Rows of the tables of error codes. */
import { Schema } from "effect"
import { nullable, optional, text } from "./fields.ts"

/** The properties of `details`. They need no services. */
type DetailFields = Readonly<Record<string, Schema.Codec<unknown, unknown>>>

/** Everything about an error that follows from its code. */
export interface ErrorDefinition {
  readonly status: number
  /** The message unless the server has a more exact one: the problem first, then the remedy. */
  readonly message: string
  /** Whether `plan` names a plan group. If undefined, it is always `null`. */
  readonly plan?: "always" | "sometimes"
  /** The properties of `details`. If undefined, `details` is always empty. */
  readonly details?: DetailFields
  /**
   * Whether the same request can succeed later. `after`: after the wait in the headers
   * `Retry-After` and `retry-after-ms`. If undefined, it cannot; a 409 then has
   * `x-should-retry: false`, because client libraries retry that status by themselves.
   */
  readonly retry?: "later" | "after"
  /** The wait of `after`, unless the server has a more exact one. */
  readonly waitMillis?: number
}

/** One problem of a request. */
const Issue = Schema.Struct({
  path: text("Path of the value, such as `params.images[0].data`. Empty for the request as a whole."),
  message: text("What the value must be.")
}).annotate({ identifier: "Issue", description: "One problem of a request." })

/** `details` of refused parameters and bodies. */
export const issues = {
  issues: Schema.Array(Issue).annotateKey({ description: "Every problem, at most 100." })
}

/** The same for a body, which may be unreadable as a whole. */
export const bodyIssues = {
  issues: Schema.optionalKey(Schema.Array(Issue)).annotateKey({
    description: "Every problem, at most 100. Absent if the body cannot be read."
  })
}

/** `details` of errors about an uploaded or inlined image. */
export const imageIndex = {
  index: Schema.optionalKey(Schema.Int).annotateKey({
    description: "Position in `params.images`, from 0. Absent for `/v1/uploads`."
  })
}

/** `details` of errors about a model. */
export const model = { model: text("The id of the model.") }

/** `details` of a generation that the image endpoint cannot return. */
export const failedGeneration = {
  generation_id: text("The id of the job."),
  reason: nullable(Schema.String, "A short machine-readable reason, if there is one.")
}

/** `details` of rejected content: of a request, or of the result of a job. */
export const rejectedContent = {
  generation_id: optional(Schema.String, "The id of the job that failed. Absent if no job was created."),
  reason: failedGeneration.reason,
  input: optional(
    Schema.Literals(["prompt", "image"]),
    "What the moderation rejected before a job was created. Absent if a job failed."
  ),
  index: optional(Schema.Int, "Position in `params.images`, from 0, of the image that the moderation rejected.")
}
