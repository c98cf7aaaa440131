/** What the refusals of `Generations` and `Uploads` mean over HTTP (D40): cases for `Effect.catchReasons`. */
import type * as Refused from "@kinora/generations/GenerationError"
import type * as RefusedUpload from "@kinora/generations/UploadError"
import {
  BadRequest,
  bodyOf,
  Conflict,
  Gone,
  NotFound as NotFoundError,
  PaymentRequired,
  ServiceUnavailable,
  TooManyRequests,
  UnprocessableContent
} from "@kinora/http-api/ApiError"
import type { StorageError } from "@kinora/persistence/StorageError"
import { DateTime, Effect } from "effect"

/** See `ModelNotFound`. */
export const ModelNotFound = ({ model }: Refused.ModelNotFound) =>
  Effect.fail(new NotFoundError({ error: bodyOf("model_not_found", { details: { model: shorten(model) } }) }))

/** See `ModelUnavailable`. */
export const ModelUnavailable = ({ model }: Refused.ModelUnavailable) =>
  Effect.fail(
    new ServiceUnavailable({
      error: bodyOf("model_unavailable", { details: { model } }),
      retry: { afterMillis: pausedModelMillis }
    })
  )

/** See `ModelNotInPlan`. */
export const ModelNotInPlan = ({ model, plan }: Refused.ModelNotInPlan) =>
  Effect.fail(new BadRequest({ error: bodyOf("model_not_in_plan", { plan, details: { model } }) }))

/** See `PlanInactive`. */
export const PlanInactive = ({ plan }: Refused.PlanInactive) =>
  Effect.fail(new PaymentRequired({ error: bodyOf("plan_inactive", { plan }) }))

/** See `InvalidParams`. */
export const InvalidParams = ({ issues }: Refused.InvalidParams) =>
  Effect.fail(new BadRequest({ error: bodyOf("invalid_params", { details: { issues } }) }))

/** See `InvalidParams`, of a request whose parameters are its own fields (D20). */
export const InvalidFields = ({ issues }: Refused.InvalidParams) =>
  Effect.fail(
    new BadRequest({
      error: bodyOf("invalid_params", {
        details: { issues: issues.map(({ message, path }) => ({ path: path.replace(/^params\./, ""), message })) }
      })
    })
  )

/** See `InvalidImage` of a generation. */
export const InvalidImage = ({ index, message }: Refused.InvalidImage) =>
  Effect.fail(new BadRequest({ error: bodyOf("invalid_image", { message: sentence(message), details: { index } }) }))

/** See `UploadNotFound` of a generation. */
export const InputUploadNotFound = ({ index }: Refused.UploadNotFound) =>
  Effect.fail(new NotFoundError({ error: bodyOf("upload_not_found", { details: { index } }) }))

/** See `InvalidImage` of an upload. */
export const InvalidUpload = ({ message }: RefusedUpload.InvalidImage) =>
  Effect.fail(new BadRequest({ error: bodyOf("invalid_image", { message: sentence(message) }) }))

/** See `UploadNotFound` of an upload. */
export const UploadNotFound = (_: RefusedUpload.UploadNotFound) =>
  Effect.fail(new NotFoundError({ error: bodyOf("upload_not_found") }))

/** See `TooManyUploads`. Waiting for one to expire takes too long to sit out. */
export const TooManyUploads = ({ max }: RefusedUpload.TooManyUploads) =>
  Effect.fail(
    new TooManyRequests({
      error: bodyOf("rate_limited", {
        message: `The account has ${max} uploads, as many as it may; delete one, or wait until one expires.`,
        details: { scope: "uploads" }
      }),
      retry: { afterMillis: fullUploadsMillis },
      shouldRetry: false
    })
  )

/** See `QuotaExceeded`. */
export const QuotaExceeded = ({ plan, quotaKind, resetsAt }: Refused.QuotaExceeded) =>
  Effect.fail(
    new PaymentRequired({
      error: bodyOf("quota_exceeded", {
        plan,
        details: { quota_kind: quotaKind, resets_at: DateTime.formatIso(resetsAt) }
      })
    })
  )

/** See `InsufficientCredits`. */
export const InsufficientCredits = ({ available, plan, required }: Refused.InsufficientCredits) =>
  Effect.fail(
    new PaymentRequired({ error: bodyOf("insufficient_credits", { plan, details: { required, available } }) })
  )

/** See `QueueFull`. */
export const QueueFull = ({ plan, waitingMax }: Refused.QueueFull) =>
  Effect.fail(
    new TooManyRequests({
      error: bodyOf("queue_full", { plan, details: { waiting_max: waitingMax } }),
      retry: { afterMillis: fullQueueMillis },
      shouldRetry: true
    })
  )

/** See `KeyReused`. */
export const KeyReused = (_: Refused.KeyReused) =>
  Effect.fail(new UnprocessableContent({ error: bodyOf("idempotency_key_reused") }))

/** See `KeyInProgress`. */
export const KeyInProgress = (_: Refused.KeyInProgress) =>
  Effect.fail(
    new Conflict({ error: bodyOf("idempotency_in_progress"), retry: { afterMillis: undecidedRequestMillis } })
  )

/** See `NotFound`. */
export const NotFound = (_: Refused.NotFound) => unknownGeneration

/** See `NotCancellable`. */
export const NotCancellable = ({ plan, status }: Refused.NotCancellable) =>
  Effect.fail(new Conflict({ error: bodyOf("not_cancellable", { plan, details: { status } }) }))

/** See `ResultNotReady`. */
export const ResultNotReady = ({ status }: Refused.ResultNotReady) =>
  Effect.fail(new Conflict({ error: bodyOf("result_not_ready", { details: { status } }) }))

/** See `ResultNotFound`. */
export const ResultNotFound = ({ status }: Refused.ResultNotFound) =>
  Effect.fail(new NotFoundError({ error: bodyOf("result_not_found", { details: { status } }) }))

/** See `ResultExpired`. */
export const ResultExpired = ({ expiredAt }: Refused.ResultExpired) =>
  Effect.fail(
    new Gone({ error: bodyOf("result_expired", { details: { expired_at: DateTime.formatIso(expiredAt) } }) })
  )

/** Domains end their messages as they like. */
export const sentence = (text: string): string => text.endsWith(".") ? text : `${text}.`

/** 503 for storage that may come back; a defect otherwise. */
export const unavailable = (error: StorageError): Effect.Effect<never, ServiceUnavailable> =>
  error.isRetryable
    ? Effect.andThen(Effect.logWarning("Storage is unavailable", error), Effect.fail(storageUnavailable))
    : Effect.die(error)

/** A refusal that the use-case cannot give is a bug. */
export const unexpected = (reason: Refused.Refusal | RefusedUpload.UploadError["reason"]): Effect.Effect<never> =>
  Effect.die(reason)

/** 503 of a backend that does not answer. One instance, since an error is dear to construct. */
export const storageUnavailable = new ServiceUnavailable({
  error: bodyOf("unavailable"),
  retry: { afterMillis: 1000 }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** D27. */
const fullQueueMillis = 5000
/** The second request has already waited for the first one (D14). */
const undecidedRequestMillis = 1000
const pausedModelMillis = 30_000
const fullUploadsMillis = 60_000

const unknownGeneration = Effect.fail(new NotFoundError({ error: bodyOf("not_found") }))

/** An id that is none can be as long as a body. */
const shorten = (text: string) => text.length > 128 ? `${text.slice(0, 128)}…` : text
