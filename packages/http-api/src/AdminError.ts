/** What only operators can be refused. Everything else is refused with the errors of `ApiError`. */
import { ErrorReporter, Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** The codes of 409, with what they say. */
export const table = {
  email_taken: "Another account has this e-mail address; use that account, or another address.",
  reference_reused: "This reference was used for something else; send what it was used for, or a new reference.",
  too_many_keys: "The account has as many keys as it may have; revoke one first."
} as const satisfies Readonly<Record<string, string>>

/** A machine-readable code of `AdminConflict`. */
export type AdminConflictCode = keyof typeof table

const fields = {
  error: Schema.Struct({
    code: Schema.Literals(["email_taken", "reference_reused", "too_many_keys"]),
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
