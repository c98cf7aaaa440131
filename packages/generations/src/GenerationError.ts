/** Everything that `Generations` refuses to do. HTTP meaning is given at the edge (D40). */
import { Schema } from "effect"
import { Plan, Status } from "./Generation.ts"

const id = <const Name extends string>(name: Name) => `@kinora/generations/${name}` as const

/** No model of this id is on sale. */
export class ModelNotFound extends Schema.TaggedError<ModelNotFound>(id("ModelNotFound"))("ModelNotFound", {
  model: Schema.String
}) {}

/** The model is paused: listed, and takes no new jobs (D9). */
export class ModelUnavailable extends Schema.TaggedError<ModelUnavailable>(id("ModelUnavailable"))("ModelUnavailable", {
  model: Schema.String
}) {}

/** The model is not part of the Studio plan (D16). */
export class ModelNotInPlan extends Schema.TaggedError<ModelNotInPlan>(id("ModelNotInPlan"))("ModelNotInPlan", {
  model: Schema.String,
  plan: Plan
}) {}

/** The account has no active plan of the chosen group (D16). */
export class PlanInactive extends Schema.TaggedError<PlanInactive>(id("PlanInactive"))("PlanInactive", {
  plan: Plan
}) {}

/** The parameters break the model's rules; every one of them is listed (D17). */
export class InvalidParams extends Schema.TaggedError<InvalidParams>(id("InvalidParams"))("InvalidParams", {
  issues: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
}) {}

/** An input image cannot be read, or is not one (D18). */
export class InvalidImage extends Schema.TaggedError<InvalidImage>(id("InvalidImage"))("InvalidImage", {
  /** Its place in `params.images`, from 0. */
  index: Schema.Int,
  /** What is wrong with it, for people. */
  message: Schema.String
}) {}

/** The account has no upload of the id that an input image names, or has no longer (D19). */
export class UploadNotFound extends Schema.TaggedError<UploadNotFound>(id("UploadNotFound"))("UploadNotFound", {
  /** Its place in `params.images`, from 0. */
  index: Schema.Int
}) {}

/** The day's quota is used up (D16). */
export class QuotaExceeded extends Schema.TaggedError<QuotaExceeded>(id("QuotaExceeded"))("QuotaExceeded", {
  plan: Plan,
  quotaKind: Schema.String,
  resetsAt: Schema.DateTimeUtc
}) {}

/** The spendable credits do not cover the price (D16). */
export class InsufficientCredits
  extends Schema.TaggedError<InsufficientCredits>(id("InsufficientCredits"))("InsufficientCredits", {
    plan: Plan,
    required: Schema.Int,
    available: Schema.Int
  })
{}

/** The account's queue holds as many jobs as it may (D7). */
export class QueueFull extends Schema.TaggedError<QueueFull>(id("QueueFull"))("QueueFull", {
  plan: Plan,
  waitingMax: Schema.Int
}) {}

/** The idempotency key was used for another request (D14). */
export class KeyReused extends Schema.TaggedError<KeyReused>(id("KeyReused"))("KeyReused", {}) {}

/** The first request with this idempotency key is still being decided (D14). */
export class KeyInProgress extends Schema.TaggedError<KeyInProgress>(id("KeyInProgress"))("KeyInProgress", {}) {}

/** The account has no generation of this id. */
export class NotFound extends Schema.TaggedError<NotFound>(id("NotFound"))("NotFound", {}) {}

/** The generation has started, or is over (D8). */
export class NotCancellable extends Schema.TaggedError<NotCancellable>(id("NotCancellable"))("NotCancellable", {
  plan: Plan,
  status: Status
}) {}

/** There is no result yet (D31). */
export class ResultNotReady extends Schema.TaggedError<ResultNotReady>(id("ResultNotReady"))("ResultNotReady", {
  status: Status
}) {}

/** There will never be a result, or the generation has no such file (D31). */
export class ResultNotFound extends Schema.TaggedError<ResultNotFound>(id("ResultNotFound"))("ResultNotFound", {
  status: Status
}) {}

/** The download window is over (D31). */
export class ResultExpired extends Schema.TaggedError<ResultExpired>(id("ResultExpired"))("ResultExpired", {
  expiredAt: Schema.DateTimeUtc
}) {}

/** Why a request was refused. Nothing was charged or changed. */
export const Refusal = Schema.Union([
  ModelNotFound,
  ModelUnavailable,
  ModelNotInPlan,
  PlanInactive,
  InvalidParams,
  InvalidImage,
  UploadNotFound,
  QuotaExceeded,
  InsufficientCredits,
  QueueFull,
  KeyReused,
  KeyInProgress,
  NotFound,
  NotCancellable,
  ResultNotReady,
  ResultNotFound,
  ResultExpired
])
/** See the schema of the same name. */
export type Refusal = typeof Refusal.Type

/** A refusal on its way out of `Generations`. */
export class GenerationError extends Schema.TaggedError<GenerationError>(id("GenerationError"))("GenerationError", {
  reason: Refusal
}) {
  override get message(): string {
    return this.reason._tag
  }
}
