/** The wire format of errors: one response schema for each status. */
import { Schema, String } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { type AnyApiError, ApiError, type ApiErrorOf, headersOf, isApiError } from "../ApiError.ts"
import { type AnyErrorCode, definitionOf } from "../ErrorCode.ts"
import { Plan } from "../Scalar.ts"
import { allCodes, detailsSchema } from "./detailsSchema.ts"
import { field, object, text } from "./fields.ts"

/** The name of a code's schema in the OpenAPI documents. */
export const schemaName = (code: AnyErrorCode): string => `${String.snakeToPascal(code).replace(/Error$/, "")}Error`

/**
 * Declares the codes that an endpoint responds with. The schemas stand for every code
 * of their statuses, so that a client decodes known codes that a later server adds to the endpoint.
 */
export const errors = <const Codes extends ReadonlyArray<AnyErrorCode>>(...codes: Codes) => {
  const statuses = new Set(codes.map((code) => definitionOf(code).status))
  const schemas: ReadonlyArray<Schema.Top> = Array.from(statuses, responseOf)
  // The type names the codes of this endpoint only, so its handler can fail with no other.
  return schemas as ReadonlyArray<Schema.Codec<ApiErrorOf<Codes[number]>, unknown>>
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const planOf = (code: AnyErrorCode) => {
  const { plan } = definitionOf(code)
  return plan === "always" ? Plan : plan === "sometimes" ? Schema.NullOr(Plan) : Schema.Null
}

/** The inner object of the envelope. */
const errorOf = (code: AnyErrorCode) =>
  object(schemaName(code), definitionOf(code).message, {
    code: field(Schema.Literal(code), "The error code, for programs."),
    message: text("The problem and the remedy, for people."),
    plan: field(planOf(code), "The plan group that the error is about; `null` if it is about none."),
    details: field(detailsSchema(code), "More about the error. The properties depend on the code.")
  })

const wait = { "retry-after": Schema.Int, "retry-after-ms": Schema.Int }
const doNotRetry = { "x-should-retry": Schema.optionalKey(Schema.Literal("false")) }

/** Headers by status. Other statuses have none. */
const headers: Readonly<Record<number, Readonly<Record<string, Schema.Codec<unknown, unknown>>>>> = {
  401: { "www-authenticate": Schema.Literal("Bearer") },
  409: {
    "retry-after": Schema.optionalKey(Schema.Int),
    "retry-after-ms": Schema.optionalKey(Schema.Int),
    ...doNotRetry
  },
  416: { "content-range": Schema.String.check(Schema.isPattern(/^bytes \*\/\d+$/)) },
  429: { ...wait, ...doNotRetry },
  503: wait,
  504: wait
}

const makeResponse = (status: number): Schema.Codec<AnyApiError, unknown> => {
  const codes = allCodes.filter((code) => definitionOf(code).status === status)
  return Schema.declare((value): value is AnyApiError => isApiError(value) && value.status === status).pipe(
    HttpApiSchema.encodeToWithHeaders({
      body: Schema.Struct({ error: Schema.Union(codes.map(errorOf)) }).pipe(HttpApiSchema.status(status)),
      headers: headers[status] ?? {}
    }, {
      encode: (error) => ({
        body: { error: { code: error._tag, message: error.message, plan: error.plan, details: error.details } },
        headers: headersOf(error)
      }),
      decode: ({ body: { error: { code, ...error } }, headers }) => {
        const retryAfterMillis = headers["retry-after-ms"]
        return new ApiError({
          ...error,
          _tag: code,
          retryAfterMillis: typeof retryAfterMillis === "number" ? retryAfterMillis : undefined,
          shouldRetry: definitionOf(code).retry !== undefined && headers["x-should-retry"] === undefined
        }) as AnyApiError
      }
    })
  )
}

const responses = new Map<number, Schema.Codec<AnyApiError, unknown>>()

/** One instance for each status, because an endpoint and its middleware share it. */
const responseOf = (status: number) => {
  const known = responses.get(status)
  if (known !== undefined) return known
  const made = makeResponse(status)
  responses.set(status, made)
  return made
}
