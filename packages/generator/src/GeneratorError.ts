/** How a generator fails, told by what its caller can do about it. */
import { Schema } from "effect"

/** What may be told to the client of a job that failed for good (D12). */
export const FailureCode = Schema.Literals([
  "generation_failed",
  "content_rejected",
  "invalid_input",
  "upstream_error",
  "upstream_timeout"
])
/** See the schema of the same name. */
export type FailureCode = typeof FailureCode.Type

/** One short word that says whose fault a failure is (D12), or `null` when nobody knows. */
export const FailureReason = Schema.NullOr(Schema.Literals(["safety", "copyright", "provider", "internal"]))
/** See the schema of the same name. */
export type FailureReason = typeof FailureReason.Type

/** Nothing is wrong with the job: the same call may succeed later, not before `retryAfter` when it is given. */
export class Transient extends Schema.TaggedError<Transient>("@kinora/generator/Transient")("Transient", {
  retryAfter: Schema.optionalKey(Schema.Duration)
}) {}

/** The job will never succeed; asking again is pointless. */
export class Permanent extends Schema.TaggedError<Permanent>("@kinora/generator/Permanent")("Permanent", {
  code: FailureCode,
  reason: FailureReason,
  /** For the people who wanted the picture. Written by the driver: never an upstream's text, address or key (D12). */
  message: Schema.String
}) {}

/**
 * The request may or may not have reached the provider, and may cost money there.
 * Only `submit` of a driver whose `resubmit` is `unsafe` ends like this; the job
 * fails and is refunded rather than paid for twice.
 */
export class UnknownOutcome
  extends Schema.TaggedError<UnknownOutcome>("@kinora/generator/UnknownOutcome")("UnknownOutcome", {})
{}

/**
 * The work is gone with the process or the engine that had it. Only `poll` and
 * `collect` of a driver whose `resubmit` is `safe` end like this: submitting the
 * request again starts the work anew.
 */
export class Lost extends Schema.TaggedError<Lost>("@kinora/generator/Lost")("Lost", {}) {}

/** What went wrong. */
export const Reason = Schema.Union([Transient, Permanent, UnknownOutcome, Lost])
/** See the schema of the same name. */
export type Reason = typeof Reason.Type

/** A call to a generator failed. */
export class GeneratorError extends Schema.TaggedError<GeneratorError>("@kinora/generator/GeneratorError")(
  "GeneratorError",
  { reason: Reason }
) {
  /** Whether the same call may succeed later. */
  get isRetryable(): boolean {
    return this.reason._tag === "Transient"
  }

  override get message(): string {
    return this.reason._tag === "Permanent" ? this.reason.message : this.reason._tag
  }
}
