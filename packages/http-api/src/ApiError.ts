/**
 * The errors of the interface: one class per status, one envelope on the wire
 * (D42). The class is what a handler fails with and what a client catches; its
 * `…Response` is how it travels.
 */
import { ErrorReporter, Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { codesOf, type ErrorCode, table } from "./ErrorCode.ts"
import { Plan } from "./Scalar.ts"

/** What a code's message cannot say: the group that it is about, and what depends on the code. */
export interface ErrorDetails {
  /** Replaces the code's own message. */
  readonly message?: string | undefined
  readonly plan?: Plan | null | undefined
  readonly details?: Readonly<Record<string, Schema.Json>> | undefined
}

/** The inner object of the envelope: exactly these four, always (D42). */
export const bodyOf = <Code extends ErrorCode>(code: Code, more: ErrorDetails = {}) => ({
  code,
  message: more.message ?? table[code].message,
  plan: more.plan ?? null,
  details: more.details ?? {}
})

type ErrorStatus = (typeof table)[ErrorCode]["status"]
type WireError<Status extends ErrorStatus> = ReturnType<typeof errorOf<Status>>["Type"]

const errorOf = <const Status extends ErrorStatus>(status: Status) =>
  Schema.Struct({
    code: Schema.Literals(codesOf(status)),
    message: Schema.String,
    plan: Schema.NullOr(Plan),
    details: Schema.Record(Schema.String, Schema.Json)
  })

/** How long to wait before trying again. */
const Retry = Schema.Struct({
  /** The exact wait. */
  afterMillis: Schema.Int
})

// ---- statuses whose headers say nothing of their own ----

/** 400: the request is malformed or breaks a rule. */
export class BadRequest extends Schema.Error<BadRequest>("BadRequest")({ error: errorOf(400) }) {
  override readonly [ErrorReporter.ignore] = true
}

/** 402: the chosen plan group cannot pay. The other one may. */
export class PaymentRequired extends Schema.Error<PaymentRequired>("PaymentRequired")({ error: errorOf(402) }) {
  override readonly [ErrorReporter.ignore] = true
}

/** 403: known, and not allowed. */
export class Forbidden extends Schema.Error<Forbidden>("Forbidden")({ error: errorOf(403) }) {
  override readonly [ErrorReporter.ignore] = true
}

/** 404: not there, or not there for this account. */
export class NotFound extends Schema.Error<NotFound>("NotFound")({ error: errorOf(404) }) {
  override readonly [ErrorReporter.ignore] = true
}

/** 410: it was there. */
export class Gone extends Schema.Error<Gone>("Gone")({ error: errorOf(410) }) {
  override readonly [ErrorReporter.ignore] = true
}

/** 413: more bytes than the endpoint takes (D18). */
export class PayloadTooLarge extends Schema.Error<PayloadTooLarge>("PayloadTooLarge")({ error: errorOf(413) }) {
  override readonly [ErrorReporter.ignore] = true
}

/** 415: a body that is not JSON by its `Content-Type`. */
export class UnsupportedMediaType
  extends Schema.Error<UnsupportedMediaType>("UnsupportedMediaType")({ error: errorOf(415) })
{
  override readonly [ErrorReporter.ignore] = true
}

/** 422: understood, and refused for what it asks. */
export class UnprocessableContent
  extends Schema.Error<UnprocessableContent>("UnprocessableContent")({ error: errorOf(422) })
{
  override readonly [ErrorReporter.ignore] = true
}

/** 500: a fault of the service. Says nothing of the inside (D41). */
export class InternalServerError
  extends Schema.Error<InternalServerError>("InternalServerError")({ error: errorOf(500) })
{}

// ---- statuses with headers ----

/** 401: no valid credentials. Answered with `WWW-Authenticate: Bearer`. */
export class Unauthorized extends Schema.Error<Unauthorized>("Unauthorized")({ error: errorOf(401) }) {
  override readonly [ErrorReporter.ignore] = true
}

/** 409: the state of the job, or of a request under way, does not allow it. */
export class Conflict extends Schema.Error<Conflict>("Conflict")({
  error: errorOf(409),
  /** Present when waiting helps. */
  retry: Schema.optionalKey(Retry)
}) {
  override readonly [ErrorReporter.ignore] = true
}

/** 416: the range begins behind the end. */
export class RangeNotSatisfiable extends Schema.Error<RangeNotSatisfiable>("RangeNotSatisfiable")({
  error: errorOf(416),
  /** Size of the whole in bytes. */
  size: Schema.Int
}) {
  override readonly [ErrorReporter.ignore] = true
}

/** 429: a limit (D27). */
export class TooManyRequests extends Schema.Error<TooManyRequests>("TooManyRequests")({
  error: errorOf(429),
  retry: Retry,
  /** `false` when the wait is too long to sit out, as for a daily limit. */
  shouldRetry: Schema.Boolean
}) {
  override readonly [ErrorReporter.ignore] = true
}

/** 503: not now. */
export class ServiceUnavailable extends Schema.Error<ServiceUnavailable>("ServiceUnavailable")({
  error: errorOf(503),
  retry: Retry
}) {
  override readonly [ErrorReporter.ignore] = true
}

/** 504: the wait of the image endpoint is over and the job goes on (D20). */
export class GatewayTimeout extends Schema.Error<GatewayTimeout>("GatewayTimeout")({
  error: errorOf(504),
  retry: Retry
}) {
  override readonly [ErrorReporter.ignore] = true
}

// ---- how they travel ----

const named = <const Status extends ErrorStatus>(identifier: string, status: Status) =>
  Schema.Struct({ error: errorOf(status) }).annotate({ identifier }).pipe(HttpApiSchema.status(status))

/** `Retry-After` is whole seconds, at least 1; `retry-after-ms` is the exact wait (D27). */
const retryHeaders = (retry: typeof Retry.Type) => ({
  "retry-after": Math.max(1, Math.ceil(retry.afterMillis / 1000)),
  "retry-after-ms": retry.afterMillis
})

/** The response of a class that has no headers of its own. */
const plain = <Status extends ErrorStatus, E extends { readonly error: WireError<Status> }>(
  identifier: string,
  status: Status,
  self: Schema.Codec<E, unknown> & (new(fields: { readonly error: WireError<Status> }) => E)
) =>
  HttpApiSchema.encodeToWithHeaders<
    Schema.Codec<E, unknown>,
    ReturnType<typeof named<Status>>,
    {}
  >({ body: named(identifier, status), headers: {} }, {
    encode: ({ error }) => ({ body: { error }, headers: {} }),
    decode: ({ body }) => new self(body)
  })(self)

const doNotRetry = { "x-should-retry": "false" } as const

/** `BadRequest` as a response. */
export const BadRequestResponse = plain("BadRequest", 400, BadRequest)

/** `Unauthorized` as a response. */
export const UnauthorizedResponse = Unauthorized.pipe(
  HttpApiSchema.encodeToWithHeaders({
    body: named("Unauthorized", 401),
    headers: { "www-authenticate": Schema.Literal("Bearer") }
  }, {
    encode: ({ error }) => ({ body: { error }, headers: { "www-authenticate": "Bearer" as const } }),
    decode: ({ body }) => new Unauthorized(body)
  })
)

/** `PaymentRequired` as a response. */
export const PaymentRequiredResponse = plain("PaymentRequired", 402, PaymentRequired)

/** `Forbidden` as a response. */
export const ForbiddenResponse = plain("Forbidden", 403, Forbidden)

/** `NotFound` as a response. */
export const NotFoundResponse = plain("NotFound", 404, NotFound)

/** `Conflict` as a response. */
export const ConflictResponse = Conflict.pipe(
  HttpApiSchema.encodeToWithHeaders({
    body: named("Conflict", 409),
    headers: {
      "retry-after": Schema.optionalKey(Schema.Int),
      "retry-after-ms": Schema.optionalKey(Schema.Int),
      "x-should-retry": Schema.optionalKey(Schema.Literal("false"))
    }
  }, {
    encode: ({ error, retry }) => ({
      body: { error },
      headers: retry === undefined ? (table[error.code].retryable ? {} : doNotRetry) : retryHeaders(retry)
    }),
    decode: ({ body, headers }) =>
      new Conflict({
        error: body.error,
        ...(headers["retry-after-ms"] === undefined ? {} : { retry: { afterMillis: headers["retry-after-ms"] } })
      })
  })
)

/** `Gone` as a response. */
export const GoneResponse = plain("Gone", 410, Gone)

/** `PayloadTooLarge` as a response. */
export const PayloadTooLargeResponse = plain("PayloadTooLarge", 413, PayloadTooLarge)

/** `UnsupportedMediaType` as a response. */
export const UnsupportedMediaTypeResponse = plain("UnsupportedMediaType", 415, UnsupportedMediaType)

/** `RangeNotSatisfiable` as a response. */
export const RangeNotSatisfiableResponse = RangeNotSatisfiable.pipe(
  HttpApiSchema.encodeToWithHeaders({
    body: named("RangeNotSatisfiable", 416),
    headers: { "content-range": Schema.String.check(Schema.isPattern(/^bytes \*\/\d+$/)) }
  }, {
    encode: ({ error, size }) => ({ body: { error }, headers: { "content-range": `bytes */${size}` } }),
    decode: ({ body, headers }) =>
      new RangeNotSatisfiable({ error: body.error, size: Number(headers["content-range"].slice("bytes */".length)) })
  })
)

/** `UnprocessableContent` as a response. */
export const UnprocessableContentResponse = plain("UnprocessableContent", 422, UnprocessableContent)

/** `TooManyRequests` as a response. */
export const TooManyRequestsResponse = TooManyRequests.pipe(
  HttpApiSchema.encodeToWithHeaders({
    body: named("TooManyRequests", 429),
    headers: {
      "retry-after": Schema.Int,
      "retry-after-ms": Schema.Int,
      "x-should-retry": Schema.optionalKey(Schema.Literal("false"))
    }
  }, {
    encode: ({ error, retry, shouldRetry }) => ({
      body: { error },
      headers: shouldRetry ? retryHeaders(retry) : { ...retryHeaders(retry), ...doNotRetry }
    }),
    decode: ({ body, headers }) =>
      new TooManyRequests({
        error: body.error,
        retry: { afterMillis: headers["retry-after-ms"] },
        shouldRetry: headers["x-should-retry"] === undefined
      })
  })
)

/** `InternalServerError` as a response. */
export const InternalServerErrorResponse = plain("InternalServerError", 500, InternalServerError)

/** `ServiceUnavailable` as a response. */
export const ServiceUnavailableResponse = ServiceUnavailable.pipe(
  HttpApiSchema.encodeToWithHeaders({
    body: named("ServiceUnavailable", 503),
    headers: { "retry-after": Schema.Int, "retry-after-ms": Schema.Int }
  }, {
    encode: ({ error, retry }) => ({ body: { error }, headers: retryHeaders(retry) }),
    decode: ({ body, headers }) =>
      new ServiceUnavailable({ error: body.error, retry: { afterMillis: headers["retry-after-ms"] } })
  })
)

/** `GatewayTimeout` as a response. */
export const GatewayTimeoutResponse = GatewayTimeout.pipe(
  HttpApiSchema.encodeToWithHeaders({
    body: named("GatewayTimeout", 504),
    headers: { "retry-after": Schema.Int, "retry-after-ms": Schema.Int }
  }, {
    encode: ({ error, retry }) => ({ body: { error }, headers: retryHeaders(retry) }),
    decode: ({ body, headers }) =>
      new GatewayTimeout({ error: body.error, retry: { afterMillis: headers["retry-after-ms"] } })
  })
)
