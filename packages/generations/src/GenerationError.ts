/** Refusals of `Generations`. A refused call charges and changes nothing. */
import { Schema } from "effect"
import { Plan, Status } from "./Generation.ts"

const id = <const Name extends string>(name: Name) => `@kinora/generations/${name}` as const

/** The catalog has no model with this id, or the model is withdrawn. */
export class ModelNotFound extends Schema.TaggedError<ModelNotFound>(id("ModelNotFound"))("ModelNotFound", {
  model: Schema.String
}) {}

/** The model is paused. It stays listed but accepts no new jobs. */
export class ModelUnavailable extends Schema.TaggedError<ModelUnavailable>(id("ModelUnavailable"))("ModelUnavailable", {
  model: Schema.String,
  /** Time until an upstream of the model is tested, at least 1 second; `null` if the model is paused in the catalog. */
  retryAfter: Schema.NullOr(Schema.Duration)
}) {}

/** The model is not part of the Studio plan. */
export class ModelNotInPlan extends Schema.TaggedError<ModelNotInPlan>(id("ModelNotInPlan"))("ModelNotInPlan", {
  model: Schema.String,
  plan: Plan
}) {}

/** The account has no active plan in the requested group. */
export class PlanInactive extends Schema.TaggedError<PlanInactive>(id("PlanInactive"))("PlanInactive", {
  plan: Plan
}) {}

/** The parameters violate the model's schema. Lists every issue. */
export class InvalidParams extends Schema.TaggedError<InvalidParams>(id("InvalidParams"))("InvalidParams", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {}

/** An input image cannot be decoded or has an unsupported format. */
export class InvalidImage extends Schema.TaggedError<InvalidImage>(id("InvalidImage"))("InvalidImage", {
  /** Position in `params.images`, from 0. */
  index: Schema.Int,
  /** Description of the problem, shown to the client. */
  message: Schema.String
}) {}

/** An input image or an upload was not decoded in time. It may be on a less busy server. */
export class ImageTimedOut extends Schema.TaggedError<ImageTimedOut>(id("ImageTimedOut"))("ImageTimedOut", {}) {}

/** The input images or the upload have more pixels than the account has left in this minute. */
export class InputPixelsExceeded
  extends Schema.TaggedError<InputPixelsExceeded>(id("InputPixelsExceeded"))("InputPixelsExceeded", {
    /** Maximum number of pixels per minute. */
    perMinute: Schema.Int,
    /** Time until the minute ends. */
    retryAfter: Schema.Duration
  })
{}

/** The account has no usable upload with the id that an input image names. */
export class UploadNotFound extends Schema.TaggedError<UploadNotFound>(id("UploadNotFound"))("UploadNotFound", {
  /** Position in `params.images`, from 0. */
  index: Schema.Int
}) {}

/** The moderation rejected the prompt or an input image. */
export class ContentRejected extends Schema.TaggedError<ContentRejected>(id("ContentRejected"))("ContentRejected", {
  plan: Plan,
  reason: Schema.Literals(["safety", "copyright"]),
  /** Position in `params.images` of the rejected image, from 0; `null` if the prompt was rejected. */
  image: Schema.NullOr(Schema.Int)
}) {}

/** The moderation could not check the request. The same request may succeed later. */
export class ModerationUnavailable
  extends Schema.TaggedError<ModerationUnavailable>(id("ModerationUnavailable"))("ModerationUnavailable", {})
{}

/** The daily quota of the plan is used up. */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>(id("QuotaExceeded"))("QuotaExceeded", {
  plan: Plan,
  quotaKind: Schema.String,
  resetsAt: Schema.DateTimeUtc
}) {}

/** The spendable credits do not cover the price. */
export class InsufficientCredits
  extends Schema.TaggedError<InsufficientCredits>(id("InsufficientCredits"))("InsufficientCredits", {
    plan: Plan,
    required: Schema.Int,
    available: Schema.Int
  })
{}

/** The job would exceed the budget of its API key. */
export class KeyBudgetExceeded extends Schema.TaggedError<KeyBudgetExceeded>(id("KeyBudgetExceeded"))(
  "KeyBudgetExceeded",
  {
    plan: Plan,
    budget: Schema.Literals(["creditsPerDay", "creditsPerMonth", "jobsPerDay", "jobsPerMonth"]),
    limit: Schema.Int,
    used: Schema.Int,
    /** Credits of the job, or 1 job. */
    required: Schema.Int,
    resetsAt: Schema.DateTimeUtc
  }
) {}

/** The account already has the maximum number of pending jobs. */
export class QueueFull extends Schema.TaggedError<QueueFull>(id("QueueFull"))("QueueFull", {
  plan: Plan,
  waitingMax: Schema.Int
}) {}

/** The idempotency key was used for a request with another body. */
export class KeyReused extends Schema.TaggedError<KeyReused>(id("KeyReused"))("KeyReused", {}) {}

/** The first request with this idempotency key has not finished yet. */
export class KeyInProgress extends Schema.TaggedError<KeyInProgress>(id("KeyInProgress"))("KeyInProgress", {}) {}

/** The account has no generation with this id. */
export class NotFound extends Schema.TaggedError<NotFound>(id("NotFound"))("NotFound", {}) {}

/** The generation has started or ended, so it cannot be cancelled. */
export class NotCancellable extends Schema.TaggedError<NotCancellable>(id("NotCancellable"))("NotCancellable", {
  plan: Plan,
  status: Status
}) {}

/** The generation has ended, so it can be neither failed nor requeued. */
export class AlreadyEnded extends Schema.TaggedError<AlreadyEnded>(id("AlreadyEnded"))("AlreadyEnded", {
  status: Status
}) {}

/** The generation has not ended, so it has no result yet. */
export class ResultNotReady extends Schema.TaggedError<ResultNotReady>(id("ResultNotReady"))("ResultNotReady", {
  status: Status
}) {}

/** The generation ended without a result, or its result has no such file. */
export class ResultNotFound extends Schema.TaggedError<ResultNotFound>(id("ResultNotFound"))("ResultNotFound", {
  status: Status
}) {}

/** The download window of the result has ended. */
export class ResultExpired extends Schema.TaggedError<ResultExpired>(id("ResultExpired"))("ResultExpired", {
  expiredAt: Schema.DateTimeUtc
}) {}

/** Rule that refused a call. */
export const Refusal = Schema.Union([
  ModelNotFound,
  ModelUnavailable,
  ModelNotInPlan,
  PlanInactive,
  InvalidParams,
  InvalidImage,
  ImageTimedOut,
  InputPixelsExceeded,
  UploadNotFound,
  ContentRejected,
  ModerationUnavailable,
  KeyBudgetExceeded,
  QuotaExceeded,
  InsufficientCredits,
  QueueFull,
  KeyReused,
  KeyInProgress,
  NotFound,
  NotCancellable,
  AlreadyEnded,
  ResultNotReady,
  ResultNotFound,
  ResultExpired
])
/** See the schema of the same name. */
export type Refusal = typeof Refusal.Type

/** Error of `Generations`. The reason states which rule refused the call. */
export class GenerationError extends Schema.TaggedError<GenerationError>(id("GenerationError"))("GenerationError", {
  reason: Refusal
}) {
  override get message(): string {
    return this.reason._tag
  }
}
