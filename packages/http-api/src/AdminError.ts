/** What only operators can be refused. Everything else is refused with the errors of `ApiError`. */
import { ErrorReporter, Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** The codes of 409, with what they say. */
export const table = {
  delivery_pending: "The delivery has not ended, so it is sent anyway; wait for its end.",
  email_taken: "Another account has this e-mail address; use that account, or another address.",
  endpoint_disabled: "Nothing is sent to this endpoint; enable it first.",
  reference_reused: "This reference was used for something else; send what it was used for, or a new reference.",
  too_many_endpoints: "The account has as many webhook endpoints as it may have; remove one first.",
  too_many_keys: "The account has as many keys as it may have; revoke one first.",
  too_many_secrets:
    "As many secrets of this endpoint sign already as may; wait for an overlap to end, or rotate without one."
} as const satisfies Readonly<Record<string, string>>

/** A machine-readable code of `AdminConflict`. */
export type AdminConflictCode = keyof typeof table

const fields = {
  error: Schema.Struct({
    code: Schema.Literals([
      "delivery_pending",
      "email_taken",
      "endpoint_disabled",
      "reference_reused",
      "too_many_endpoints",
      "too_many_keys",
      "too_many_secrets"
    ]),
    message: Schema.String,
    plan: Schema.Null,
    details: Schema.Record(Schema.String, Schema.Json)
  })
}

/** 409: what there is already does not allow it. */
export class AdminConflict extends Schema.Error<AdminConflict>("AdminConflict")(fields) {
  override readonly [ErrorReporter.ignore] = true
}

/** The refusal of this code, with what depends on it. */
export const conflict = (
  code: AdminConflictCode,
  details: Readonly<Record<string, Schema.Json>> = {}
): AdminConflict => new AdminConflict({ error: { code, message: table[code], plan: null, details } })

/** `AdminConflict` as a response. Repeating the request does not help (D27). */
export const AdminConflictResponse = AdminConflict.pipe(
  HttpApiSchema.encodeToWithHeaders({
    body: Schema.Struct(fields).annotate({ identifier: "Conflict" }).pipe(HttpApiSchema.status(409)),
    headers: { "x-should-retry": Schema.Literal("false") }
  }, {
    encode: ({ error }) => ({ body: { error }, headers: { "x-should-retry": "false" as const } }),
    decode: ({ body }) => new AdminConflict(body)
  })
)

/** What can be wrong with the URL of a webhook endpoint. `dns`: its host has no address now. */
export const UrlProblem = Schema.Literals(["url", "scheme", "port", "user_info", "own_domain", "address", "dns"])
/** See the schema of the same name. */
export type UrlProblem = typeof UrlProblem.Type

const urlFields = {
  error: Schema.Struct({
    code: Schema.Literal("invalid_webhook_url"),
    message: Schema.String,
    plan: Schema.Null,
    details: Schema.Struct({ problem: UrlProblem })
  })
}

/** 400: nothing is sent to such a URL. The message says what is wrong with it. */
export class InvalidWebhookUrl extends Schema.Error<InvalidWebhookUrl>("InvalidWebhookUrl")(urlFields) {
  override readonly [ErrorReporter.ignore] = true
}

/** The refusal of a URL; the message says what is wrong with it and what to do. */
export const invalidUrl = (problem: UrlProblem, message: string): InvalidWebhookUrl =>
  new InvalidWebhookUrl({ error: { code: "invalid_webhook_url", message, plan: null, details: { problem } } })

/** `InvalidWebhookUrl` as a response. */
export const InvalidWebhookUrlResponse = InvalidWebhookUrl.pipe(
  HttpApiSchema.encodeToWithHeaders({
    body: Schema.Struct(urlFields).annotate({ identifier: "InvalidWebhookUrl" }).pipe(HttpApiSchema.status(400)),
    headers: {}
  }, {
    encode: ({ error }) => ({ body: { error }, headers: {} }),
    decode: ({ body }) => new InvalidWebhookUrl(body)
  })
)
