/** Failures of upstreams, and the reasons that they are for a generator. */
import { type Reason, Transient, UnknownOutcome } from "@kinora/generator/GeneratorError"
import { permanent, rejectionOfCodes } from "@kinora/generator/ProviderFailure"
import { Duration, Predicate } from "effect"

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
  const rejection = rejectionOfCodes(codes)
  if (status < 500 && rejection !== undefined) return permanent(rejection)
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

/** Codes are short. Anything else may be text with content of the request. */
const codeShape = /^[a-z0-9][a-z0-9_.:/-]{0,63}$/
/** Entries of `detail` that are read. */
const detailsMax = 16

const retryAfterMaxMillis = 3_600_000

const limited = (millis: number) => Duration.millis(Math.min(Math.max(millis, 0), retryAfterMaxMillis))

const numberOf = (text: unknown): number | undefined =>
  typeof text === "string" && /^\d{1,12}(?:\.\d+)?$/.test(text) ? Number(text) : undefined

const field = (value: unknown, name: string): unknown => Predicate.hasProperty(value, name) ? value[name] : undefined
