/**
 * Errors of the client. Each is a `KinoraError`, and one of four by its `_tag`. No error contains an API key or the signature
 * of a URL, also when it is printed.
 *
 * An abort is not among them: as with `fetch`, the promise rejects with the signal's reason.
 */
import type { ErrorCode, Generation, Json, Plan } from "./Wire.ts"

/** Circumstances of an error. */
export interface Occasion {
  /** Job of the call, if the client has its id. It can still be running, and can be waited for or cancelled. */
  readonly generationId: string | null
  /** Number of times that the request was sent. */
  readonly attempts: number
}

/** Base class of all errors of the client. `Failure` is their union. */
export abstract class KinoraError extends Error implements Occasion {
  /** Name of the class. */
  abstract readonly _tag: Failure["_tag"]
  readonly generationId: string | null
  readonly attempts: number

  constructor(message: string, { attempts, generationId }: Occasion, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.generationId = generationId
    this.attempts = attempts
  }

  override get name(): string {
    return this._tag
  }
}

/** Content of an error response, apart from its message. */
export type Refusal = Omit<ResponseError, keyof KinoraError>

/** The service responded with an error. */
export class ResponseError extends KinoraError {
  readonly _tag = "ResponseError"
  /**
   * Reason, for programs. `unknown` if the response has no error body of the service, such as that of a proxy or to HEAD. A
   * newer service can send codes that are not in this type.
   */
  declare readonly code: ErrorCode | "unknown"
  /** HTTP status. */
  declare readonly status: number
  /** Plan group that the error concerns. */
  declare readonly plan: Plan | null
  /** Depends on the code, such as `issues` of `invalid_params`. */
  declare readonly details: Readonly<Record<string, Json>>
  /** Id to quote when you report the error. */
  declare readonly requestId: string | null
  /** Milliseconds to wait before a retry, or `null` if the response has none. */
  declare readonly retryAfterMillis: number | null
  /** Whether the same request can succeed later. `false` for limits that last until the end of the day. */
  declare readonly isRetryable: boolean

  constructor(message: string, refusal: Refusal, occasion: Occasion) {
    super(`${refusal.status} ${refusal.code}: ${message}`, occasion)
    Object.assign(this, refusal)
  }
}

/** The job failed or was cancelled, and was refunded. */
export class GenerationError extends KinoraError {
  readonly _tag = "GenerationError"
  /** `cancelled`, or the `error_code` of the job, such as `content_rejected` or `time_limit`. */
  readonly code: string
  /** One word, such as `safety`, or `null`. */
  readonly reason: string | null
  /** The job in its final state. */
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

/** No response arrived, or it broke off. `cause` is the error of `fetch`. */
export class ConnectionError extends KinoraError {
  readonly _tag = "ConnectionError"
}

/** The call exceeded its `timeoutMillis`. `cause` is the previous error, if there was one. */
export class TimeoutError extends KinoraError {
  readonly _tag = "TimeoutError"
}

/** Union of the errors, to be distinguished by `_tag`. */
export type Failure = ResponseError | GenerationError | ConnectionError | TimeoutError
