/** Errors of generators, by what the caller can do about them. */
import { Schema } from "effect"

/** Failure code of a job, shown to its client. */
export const FailureCode = Schema.Literals([
  "generation_failed",
  "content_rejected",
  "invalid_input",
  "upstream_error",
  "upstream_timeout"
])
/** Type of `FailureCode`. */
export type FailureCode = typeof FailureCode.Type

/** Cause of a failure, or `null` if it is unknown. */
export const FailureReason = Schema.NullOr(Schema.Literals(["safety", "copyright", "provider", "internal"]))
/** Type of `FailureReason`. */
export type FailureReason = typeof FailureReason.Type

/** A temporary failure: the same call may succeed later, not before `retryAfter` if it is given. */
export class Transient extends Schema.TaggedError<Transient>("@kinora/generator/Transient")("Transient", {
  retryAfter: Schema.optionalKey(Schema.Duration)
}) {}

/**
 * A permanent failure: repeating the call cannot succeed.
 *
 * `upstream_error` with the reason `internal` means that the upstream rejects this service, for
 * example its credential, so that every job would fail. It counts against the upstream, like
 * an upstream that does not respond.
 */
export class Permanent extends Schema.TaggedError<Permanent>("@kinora/generator/Permanent")("Permanent", {
  code: FailureCode,
  reason: FailureReason,
  /** Message for the client. Written by the driver: it never contains text, addresses or keys of an upstream. */
  message: Schema.String
}) {}

/**
 * The request may have reached the provider and may cost money there. Only `submit` of a
 * driver whose `resubmit` is `unsafe` fails with it. The job fails and is refunded,
 * since submitting it again might pay twice.
 */
export class UnknownOutcome
  extends Schema.TaggedError<UnknownOutcome>("@kinora/generator/UnknownOutcome")("UnknownOutcome", {})
{}

/**
 * The work was lost with its process or engine. Only `poll` and `collect` of a driver
 * whose `resubmit` is `safe` fail with it: submitting the request again restarts the
 * work.
 */
export class Lost extends Schema.TaggedError<Lost>("@kinora/generator/Lost")("Lost", {}) {}

/** Reason of a `GeneratorError`. */
export const Reason = Schema.Union([Transient, Permanent, UnknownOutcome, Lost])
/** Type of `Reason`. */
export type Reason = typeof Reason.Type

/** The error of every call to a generator. */
export class GeneratorError extends Schema.TaggedError<GeneratorError>("@kinora/generator/GeneratorError")(
  "GeneratorError",
  { reason: Reason }
) {
  /** Returns whether the same call may succeed later. */
  get isRetryable(): boolean {
    return this.reason._tag === "Transient"
  }

  override get message(): string {
    return this.reason._tag === "Permanent" ? this.reason.message : this.reason._tag
  }
}
