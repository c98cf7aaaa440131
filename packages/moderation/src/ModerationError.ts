/** The error of checks. */
import { Schema } from "effect"

/** The check could not be made now: the moderation or a file is unavailable. The same check may succeed later. */
export class Unavailable extends Schema.TaggedError<Unavailable>("@kinora/moderation/Unavailable")("Unavailable", {
  /** Description of the failure for logs. Contains no content and no secret. */
  problem: Schema.String
}) {}

/** The moderation cannot check this content, for example because it is too long. */
export class Unsupported extends Schema.TaggedError<Unsupported>("@kinora/moderation/Unsupported")("Unsupported", {
  /** Description of the limit for logs. Contains no content. */
  problem: Schema.String
}) {}

/** There is no verdict. */
export class ModerationError extends Schema.TaggedError<ModerationError>("@kinora/moderation/ModerationError")(
  "ModerationError",
  { reason: Schema.Union([Unavailable, Unsupported]) }
) {
  /** Returns whether the same check may succeed later. */
  get isRetryable(): boolean {
    return this.reason._tag === "Unavailable"
  }

  override get message(): string {
    return this.reason.problem
  }
}

/** Creates the error of a check that failed for a transient reason. */
export const unavailable = (problem: string): ModerationError =>
  new ModerationError({ reason: new Unavailable({ problem }) })

/** Creates the error for content that the moderation cannot check. */
export const unsupported = (problem: string): ModerationError =>
  new ModerationError({ reason: new Unsupported({ problem }) })
