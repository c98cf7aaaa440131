/**
 * What can go wrong. Every error of this package is a `KinoraError`, and one of four by its
 * `_tag`. None of them, nor what they print, holds an API key or a signature of a URL.
 *
 * An abort is none of them: as with `fetch`, the promise rejects with the signal's reason.
 */
import type { ErrorCode, Generation, Json, Plan } from "./Wire.ts"

/** What every error says. */
export interface Occasion {
  /** The job that the call was about, as far as the client knows: it may go on, and be waited for or cancelled. */
  readonly generationId: string | null
  /** How often the request was sent. 0: never. */
  readonly attempts: number
}

/** Any error of this package; `Failure` is the union of them. */
export abstract class KinoraError extends Error {
  /** Which one it is. */
  abstract readonly _tag: Failure["_tag"]
  /** See `Occasion`. */
  readonly generationId: string | null
  /** See `Occasion`. */
  readonly attempts: number

  constructor(message: string, { attempts, generationId }: Occasion, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.generationId = generationId
    this.attempts = attempts
  }
}

/** What an answer said besides the message of its error. */
export interface Refusal {
  readonly code: ErrorCode | "unknown"
  readonly status: number
  readonly plan: Plan | null
  readonly details: Readonly<Record<string, Json>>
  readonly requestId: string | null
  readonly retryAfterMillis: number | null
  readonly isRetryable: boolean
}

/** The service answered, and not with what was asked for. */
export class ResponseError extends KinoraError {
  override readonly name = "ResponseError"
  readonly _tag = "ResponseError"
  /**
   * Why, for programs. `unknown`: the answer is not the service's own, such as a proxy's, or has
   * no body, as that to HEAD. A service newer than this client may send codes that the type lacks.
   */
  readonly code: ErrorCode | "unknown"
  /** The status of HTTP. */
  readonly status: number
  /** The plan group that the error is about. */
  readonly plan: Plan | null
  /** What depends on the code, such as `issues` of `invalid_params`. */
  readonly details: Readonly<Record<string, Json>>
  /** What to quote when you report the error. */
  readonly requestId: string | null
  /** How long the service asks to wait. `null`: it does not say. */
  readonly retryAfterMillis: number | null
  /** Whether the same request may succeed later. A limit of the day is none of these. */
  readonly isRetryable: boolean

  constructor(message: string, refusal: Refusal, occasion: Occasion) {
    super(`${refusal.status} ${refusal.code}: ${message}`, occasion)
    this.code = refusal.code
    this.status = refusal.status
    this.plan = refusal.plan
    this.details = refusal.details
    this.requestId = refusal.requestId
    this.retryAfterMillis = refusal.retryAfterMillis
    this.isRetryable = refusal.isRetryable
  }
}

/** The job ended without a result: it failed, or it was cancelled. It was paid back. */
export class GenerationError extends KinoraError {
  override readonly name = "GenerationError"
  readonly _tag = "GenerationError"
  /** `cancelled`, or the `error_code` of the job: `content_rejected`, `time_limit`, … */
  readonly code: string
  /** One short word, such as `safety`, or `null`. */
  readonly reason: string | null
  /** The job as it ended. */
  readonly generation: Generation

  constructor(generation: Generation) {
    const code = generation.error_code ?? generation.status
    super(`${code}: ${generation.error?.message ?? "The job was cancelled."}`, {
      generationId: generation.id,
      attempts: 1
    })
    this.code = code
    this.reason = generation.error?.reason ?? null
    this.generation = generation
  }
}

/** No answer came, or it broke off. `cause` is what `fetch` said. */
export class ConnectionError extends KinoraError {
  override readonly name = "ConnectionError"
  readonly _tag = "ConnectionError"
}

/** The time of the call (`timeoutMillis`) is used up. `cause` is the last error before, if there was one. */
export class TimeoutError extends KinoraError {
  override readonly name = "TimeoutError"
  readonly _tag = "TimeoutError"
}

/** The errors of this package, for those who tell them apart by `_tag`. */
export type Failure = ResponseError | GenerationError | ConnectionError | TimeoutError
