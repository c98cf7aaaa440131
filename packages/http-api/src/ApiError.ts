/**
 * The errors of the API. `ApiError` is what handlers fail with and what clients catch, by
 * its code: `Effect.catchTag("rate_limited", …)`. `errors` declares which codes an
 * endpoint can respond with, and `refuse` fails with one of them.
 */
import { Data, Effect, ErrorReporter, Schema } from "effect"
import {
  type AnyErrorCode,
  type DefinitionOf,
  definitionOf,
  type Details,
  type PlanOf,
  type RetryableCode
} from "./ErrorCode.ts"
import { detailsSchema } from "./internal/detailsSchema.ts"
import { issueMessage } from "./internal/issueMessage.ts"
import type { Plan } from "./Scalar.ts"

interface Fields<Code extends AnyErrorCode> {
  /** The error code. */
  readonly _tag: Code
  /** The problem and the remedy, for people. */
  readonly message: string
  readonly plan: Plan | null
  readonly details: object
  readonly retryAfterMillis: number | undefined
  /** Whether clients should retry by themselves. `false`, for example, if a limit applies until tomorrow. */
  readonly shouldRetry: boolean
}

/** An error of the API. Its `_tag` is the error code, so `Effect.catchTag` selects by code. Use `make`. */
export class ApiError<Code extends AnyErrorCode> extends Data.Error<Fields<AnyErrorCode>> {
  declare readonly _tag: Code
  /** The plan group that the error is about. */
  declare readonly plan: PlanOf<Code>
  /** The properties that depend on the code. */
  declare readonly details: Details<Code>
  /** The exact wait that `Retry-After` rounds up. */
  declare readonly retryAfterMillis: Code extends RetryableCode ? number : undefined

  /** The HTTP status of the code. */
  get status(): number {
    return definitionOf(this._tag).status
  }

  /** Effect reports internal errors only. */
  override get [ErrorReporter.ignore](): boolean {
    return this._tag !== "internal_error"
  }
}

/** The errors of several codes. */
export type ApiErrorOf<Code extends AnyErrorCode> = Code extends AnyErrorCode ? ApiError<Code> : never

/** The error of any code. */
export type AnyApiError = ApiErrorOf<AnyErrorCode>

/** Whether a value is an `ApiError`. */
export const isApiError = (value: unknown): value is AnyApiError => value instanceof ApiError

type PlanOption<Code extends AnyErrorCode> = null extends PlanOf<Code> ? { readonly plan?: PlanOf<Code> }
  : { readonly plan: Plan }

type DetailsOption<Code extends AnyErrorCode> = {} extends Details<Code> ? { readonly details?: Details<Code> }
  : { readonly details: Details<Code> }

type RetryOption<Code extends AnyErrorCode> = Code extends RetryableCode
  ? DefinitionOf<Code> extends { readonly waitMillis: number } ? { readonly retryAfterMillis?: number }
  : { readonly retryAfterMillis: number; readonly shouldRetry?: boolean }
  : {}

/** The properties of an error besides its code. */
export type ErrorOptions<Code extends AnyErrorCode> =
  & { readonly message?: string | undefined }
  & PlanOption<Code>
  & DetailsOption<Code>
  & RetryOption<Code>

/** Every option that some code has. */
type Given = { readonly [Key in Exclude<keyof Fields<AnyErrorCode>, "_tag">]?: Fields<AnyErrorCode>[Key] | undefined }

/** The options of `make` after the code; required if the code needs any. */
export type MakeArguments<Code extends AnyErrorCode> = {} extends ErrorOptions<Code> ? [options?: ErrorOptions<Code>]
  : [options: ErrorOptions<Code>]

/**
 * Makes the error of a code. The default message is the one of the code; errors with
 * `details.issues` state the first issue instead, because many SDKs show only the message.
 */
export const make = <const Code extends AnyErrorCode>(
  code: Code,
  ...[options]: MakeArguments<Code>
): ApiError<Code> => {
  const { message, retry, waitMillis } = definitionOf(code)
  const given: Given = options ?? {}
  const details = given.details ?? {}
  return new ApiError<Code>({
    _tag: code,
    message: given.message ?? issueMessage(code, details) ?? message,
    plan: given.plan ?? null,
    details,
    retryAfterMillis: given.retryAfterMillis ?? waitMillis,
    shouldRetry: given.shouldRetry ?? retry !== undefined
  })
}

/** Fails with the error of a code. */
export const refuse = <const Code extends AnyErrorCode>(
  code: Code,
  ...options: MakeArguments<Code>
): Effect.Effect<never, ApiError<Code>> => Effect.fail(make(code, ...options))

/** An error as a response. */
export interface EncodedError {
  readonly status: number
  /** The headers that depend on the error. */
  readonly headers: Readonly<Record<string, string>>
  /** The envelope. It always has these four properties. */
  readonly body: {
    readonly error: {
      readonly code: AnyErrorCode
      readonly message: string
      readonly plan: Plan | null
      readonly details: unknown
    }
  }
}

/** Encodes an error for a response that no endpoint describes. */
export const encode = (error: ApiError<AnyErrorCode>): EncodedError => ({
  status: error.status,
  headers: Object.fromEntries(Object.entries(headersOf(error)).map(([name, value]) => [name, String(value)])),
  body: {
    error: {
      code: error._tag,
      message: error.message,
      plan: error.plan,
      details: Schema.encodeUnknownSync(detailsSchema(error._tag))(error.details)
    }
  }
})

/** The headers that an error's response has because of the error. */
export const headersOf = ({ details, retryAfterMillis, shouldRetry, status }: ApiError<AnyErrorCode>) => ({
  ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  ...(status === 416 && "bytes" in details ? { "content-range": `bytes */${String(details.bytes)}` } : {}),
  ...(retryAfterMillis === undefined ? {} : {
    // `Retry-After` has whole seconds, at least 1.
    "retry-after": Math.max(1, Math.ceil(retryAfterMillis / 1000)),
    "retry-after-ms": retryAfterMillis
  }),
  // Client libraries retry these two statuses by themselves.
  ...(!shouldRetry && (status === 409 || status === 429) ? { "x-should-retry": "false" } : {})
})
