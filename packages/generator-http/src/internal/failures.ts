/** Failures of upstreams, and the reasons that they are for a generator. */
import { Permanent, type Reason, Transient, UnknownOutcome } from "@kinora/generator/GeneratorError"
import { Duration, Predicate } from "effect"

/**
 * Permanent failures of upstreams.
 *
 * - `auth`: it rejected the credentials.
 * - `quota`: the operator's account has no credit left.
 * - `invalid`: it rejected the prompt, the parameters or the input images.
 * - `moderated`: its content policy rejected them, or the result.
 * - `gone`: it does not have the job or the result any more.
 * - `failed`: the job failed there.
 * - `unusable`: its response or result is not what its protocol promises.
 */
export type Rejection = "auth" | "quota" | "invalid" | "moderated" | "gone" | "failed" | "unusable"

/** Creates the permanent failure of a rejection. Clients cannot act on the difference between most of them. */
export const permanent = (rejection: Rejection): Permanent => {
  switch (rejection) {
    case "auth":
    case "quota":
      return new Permanent({
        code: "upstream_error",
        reason: "internal",
        message: "The provider of the model is not available to this service. Choose another model, or try again later."
      })
    case "invalid":
      return new Permanent({
        code: "invalid_input",
        reason: "provider",
        message:
          "The provider of the model rejected the request. Change the prompt, the parameters or the input images."
      })
    case "moderated":
      return new Permanent({
        code: "content_rejected",
        reason: "safety",
        message:
          "The content policy of the model's provider rejected the request or its result. Change the prompt or the input images."
      })
    case "gone":
    case "failed":
    case "unusable":
      return new Permanent({ code: "upstream_error", reason: "provider", message: messages[rejection] })
  }
}

/** Returns the failure of a job that an upstream explains by text only. It recognizes the usual words for rejected content. */
export const failureOfText = (text: unknown): Permanent =>
  permanent(typeof text === "string" && moderationText.test(text) ? "moderated" : "failed")

/**
 * Whether a call can be repeated if its outcome is unknown. `unsafe` for calls that start
 * paid work at an upstream without idempotency.
 */
export type Repeat = "safe" | "unsafe"

/** A response with a status other than 2xx. */
export interface HttpFailure {
  readonly status: number
  /** Time that the upstream asks to wait. */
  readonly retryAfter: Duration.Duration | undefined
  /** Machine-readable codes of the body, in lower case: `error.code`, `error.type`, `code`, `type`, `detail[].type`. */
  readonly codes: ReadonlyArray<string>
  /** The body as JSON, or `null` if it is not JSON. Do not log it or show it to clients. */
  readonly body: unknown
}

/** Returns the reason of a response with a status other than 2xx. */
export const reasonOfStatus = (failure: HttpFailure, repeat: Repeat): Reason => {
  const { codes, retryAfter, status } = failure
  if (status < 500 && codes.some((code) => moderation.test(code))) return permanent("moderated")
  if (status < 500 && codes.some((code) => quota.test(code))) return permanent("quota")
  switch (status) {
    case 401:
    case 403:
      return permanent("auth")
    case 402:
      return permanent("quota")
    case 404:
    case 410:
      return permanent("gone")
    case 425:
    case 429:
      return transient(retryAfter)
    case 409:
      return repeat === "safe" ? transient(retryAfter) : permanent("invalid")
    case 503:
      // Proxies send 503 also after they forwarded a request. A server that names a time did not process it.
      return retryAfter === undefined ? unanswered(repeat) : transient(retryAfter)
    case 408:
      // Gateways send 408 when the server behind them took too long.
      return unanswered(repeat)
    default:
      if (status >= 500) return unanswered(repeat, retryAfter)
      return permanent(status < 400 ? "unusable" : "invalid")
  }
}

/** Returns the reason of a request that was written, and whose response is missing or cannot be read. */
export const unanswered = (repeat: Repeat, retryAfter?: Duration.Duration): Reason =>
  repeat === "safe" ? transient(retryAfter) : new UnknownOutcome()

/** Creates the reason of a call that may succeed later. */
export const transient = (retryAfter?: Duration.Duration): Transient =>
  new Transient(retryAfter === undefined ? {} : { retryAfter })

/** Returns the machine-readable codes of an error body. See `HttpFailure.codes`. */
export const codesOf = (body: unknown): ReadonlyArray<string> => {
  const error = field(body, "error")
  const detail = field(body, "detail")
  return [
    error,
    field(error, "code"),
    field(error, "type"),
    field(body, "code"),
    field(body, "type"),
    ...(Array.isArray(detail) ? detail.slice(0, detailsMax).map((entry: unknown) => field(entry, "type")) : [])
  ].filter((code) => typeof code === "string").map((code) => code.toLowerCase()).filter((code) => codeShape.test(code))
}

/**
 * Returns the time that the headers `retry-after-ms` or `retry-after` ask to wait, at most
 * an hour. `now` is in milliseconds and replaces an absent `date`.
 */
export const retryAfterOf = (
  headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined },
  now: number
): Duration.Duration | undefined => {
  const millis = numberOf(headers["retry-after-ms"])
  if (millis !== undefined) return limited(millis)
  const text = headers["retry-after"]
  const seconds = numberOf(text)
  if (seconds !== undefined) return limited(seconds * 1000)
  // The date is compared with the upstream's clock, because the local one can differ.
  const served = Date.parse(String(headers["date"]))
  const wait = Date.parse(String(text)) - (Number.isNaN(served) ? now : served)
  return Number.isNaN(wait) ? undefined : limited(wait)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const messages = {
  gone: "The provider of the model no longer has the job or its result. Try again.",
  failed: "The provider of the model could not complete the job. Try again, or change the request.",
  unusable: "The provider of the model returned something that cannot be used. Try again later."
}

/** `E005` is the code of Replicate's own models. */
const moderationText = /nsfw|sensitive|\bsafety\b|content.?policy|moderat|\bE005\b/i

const moderation = /moderation|content_?policy|content_?filter|content_rejected|safety|nsfw|sensitive/
const quota = /insufficient_(?:quota|credits?|balance|funds)|quota_exceeded|billing|payment_required/

/** Codes are short. Anything else may be text with content of the request. */
const codeShape = /^[a-z0-9][a-z0-9_.:/-]{0,63}$/
/** Entries of `detail` that are read. */
const detailsMax = 16

const retryAfterMaxMillis = 3_600_000

const limited = (millis: number) => Duration.millis(Math.min(Math.max(millis, 0), retryAfterMaxMillis))

const numberOf = (text: unknown): number | undefined =>
  typeof text === "string" && /^\d{1,12}(?:\.\d+)?$/.test(text) ? Number(text) : undefined

const field = (value: unknown, name: string): unknown => Predicate.hasProperty(value, name) ? value[name] : undefined
