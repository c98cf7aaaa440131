/** Decides whether a request is retried, and after which delay. */
import { ConnectionError, type Failure, ResponseError } from "../KinoraError.ts"

/** Input of the decision. */
export interface Situation {
  readonly error: Failure
  /** Number of failures so far, at least 1. */
  readonly failures: number
  readonly attemptsMax: number
  /** Whether the request is idempotent. */
  readonly isRepeatable: boolean
  /** A number from 0 to below 1. */
  readonly random: number
}

/** Returns the delay before the next attempt in milliseconds, or `undefined` if the request is not retried. */
export const waitBefore = (
  { attemptsMax, error, failures, isRepeatable, random }: Situation
): number | undefined => {
  if (failures >= attemptsMax) return undefined
  if (error instanceof ResponseError) {
    if (!error.isRetryable) return undefined
    // A service that asks to retry later has not processed the request.
    if (error.retryAfterMillis !== null) return error.retryAfterMillis
  } else if (!(error instanceof ConnectionError)) return undefined
  return isRepeatable ? backoff(failures, random) : undefined
}

/** Whether the job of an image request still runs. This is not a failure: the repeated request waits for the same job. */
export const isPending = (error: Failure): boolean =>
  error instanceof ResponseError && error.code === "generation_pending"

/** Milliseconds that the headers of a response ask to wait, or `null`. */
export const retryAfterMillis = (headers: Headers): number | null => {
  const millis = numberOf(headers.get("retry-after-ms"))
  if (millis !== null) return millis
  const text = headers.get("retry-after")
  const seconds = numberOf(text)
  if (seconds !== null) return seconds * 1000
  // The date is compared with the service's clock, because the local one can be wrong.
  const wait = Date.parse(text ?? "") - Date.parse(headers.get("date") ?? "")
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}

/** Whether the same request can succeed later, by `x-should-retry` or else by the status. */
export const isRetryable = (status: number, headers: Headers): boolean => {
  const said = headers.get("x-should-retry")
  if (said !== null) return said === "true"
  return status === 408 || status === 429 || status >= 500 || (status === 409 && retryAfterMillis(headers) !== null)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const backoffMillisMin = 500
const backoffMillisMax = 8_000

/** Doubles with each failure. Half of it is random, so that clients which failed together do not retry together. */
const backoff = (failures: number, random: number): number => {
  const whole = Math.min(backoffMillisMin * 2 ** (failures - 1), backoffMillisMax)
  return Math.round(whole * (0.5 + random / 2))
}

const numberOf = (text: string | null): number | null =>
  text !== null && /^\d+(\.\d+)?$/.test(text) ? Number(text) : null
