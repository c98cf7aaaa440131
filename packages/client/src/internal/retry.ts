/** Whether a request is sent again, and after which wait. */
import { ConnectionError, type Failure, ResponseError } from "../KinoraError.ts"

/** What the decision depends on. */
export interface Situation {
  readonly error: Failure
  /** How often the request has failed so far, at least 1. */
  readonly failures: number
  readonly attemptsMax: number
  /** Whether sending it twice does what sending it once does. */
  readonly isRepeatable: boolean
  /** A number from 0 to below 1. */
  readonly random: number
}

/** The milliseconds to wait before the next attempt; `undefined`: there shall be none. */
export const waitBefore = (
  { attemptsMax, error, failures, isRepeatable, random }: Situation
): number | undefined => {
  if (failures >= attemptsMax) return undefined
  if (error instanceof ResponseError) {
    if (!error.isRetryable) return undefined
    // A service that says when to come back has done nothing yet.
    if (error.retryAfterMillis !== null) return error.retryAfterMillis
  } else if (!(error instanceof ConnectionError)) return undefined
  return isRepeatable ? backoff(failures, random) : undefined
}

/** Whether an answer tells that the job is under way: nothing failed, and asking again waits on (D20). */
export const isPending = (error: Failure): boolean =>
  error instanceof ResponseError && error.code === "generation_pending"

/** How long the headers of an answer ask to wait, or `null`. */
export const retryAfterMillis = (headers: Headers): number | null => {
  const millis = numberOf(headers.get("retry-after-ms"))
  if (millis !== null) return millis
  const text = headers.get("retry-after")
  const seconds = numberOf(text)
  if (seconds !== null) return seconds * 1000
  // A date is compared with the service's own clock: the one here may be wrong.
  const wait = Date.parse(text ?? "") - Date.parse(headers.get("date") ?? "")
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}

/** Whether the same request can succeed later: what the service says, else what the status means. */
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

/** Doubles with each failure; half of it is chance, so that those who failed together do not return together. */
const backoff = (failures: number, random: number): number => {
  const whole = Math.min(backoffMillisMin * 2 ** (failures - 1), backoffMillisMax)
  return Math.round(whole * (0.5 + random / 2))
}

const numberOf = (text: string | null): number | null =>
  text !== null && /^\d+(\.\d+)?$/.test(text) ? Number(text) : null
