/** Operators and the audit log in the admin API. */
import { Schema } from "effect"
import { field, list, nullable, object, requestTime, text, time } from "./internal/fields.ts"
import { overlapRequest } from "./internal/overlapRequest.ts"
import { page } from "./internal/pages.ts"
import { OperatorRole } from "./RequestPolicy.ts"
import { DateTime } from "./Scalar.ts"

/** The maximum overlap of a rotation in seconds: 30 days. */
export const operatorOverlapSecondsMax = 2_592_000

const role = field(OperatorRole, "The role. Each role permits everything that a lower one permits.")

/** Creates an operator. */
export const CreateOperatorRequest = object("CreateOperatorRequest", "The operator to create.", {
  name: field(
    Schema.String.check(Schema.isBetweenLength(1, 100)),
    "The name, 1 to 100 characters without control characters."
  ),
  role,
  expires_at: Schema.optionalKey(requestTime("Time from which the token does not work. Default: never."))
})

/** Creates a new token for an operator. */
export const RotateOperatorRequest = overlapRequest(
  "RotateOperatorRequest",
  "How to rotate the token.",
  operatorOverlapSecondsMax,
  "How long the former token works beside the new one. Default: 86400, one day."
)

const operator = {
  id: text("The id of the operator, `opr_…`."),
  name: text("The name."),
  role,
  prefix: text("The first 12 characters of the current token."),
  created_at: time("When the operator was created."),
  expires_at: nullable(DateTime, "Time from which no token of the operator works."),
  revoked_at: nullable(DateTime, "When the operator was revoked."),
  last_used_at: nullable(DateTime, "When a token was last used, accurate to a minute."),
  former_token_until: nullable(DateTime, "Time until which the token before the last rotation works.")
}

/** An operator, without its token. */
export const AdminOperator = object("AdminOperator", "An operator, without its token.", operator)

/** An operator with its new token. */
export const AdminNewOperator = object("AdminNewOperator", "An operator with its new token.", {
  ...operator,
  token: text("The token. Only this response contains it.")
})
/** See the schema of the same name. */
export type AdminNewOperator = typeof AdminNewOperator.Type

/** The operators of a service. */
export const AdminOperatorList = object("AdminOperatorList", "The operators of the service.", {
  data: list(AdminOperator, "The operators that are not revoked, then the latest revoked ones; at most 200.")
})

/** The role of the actor of an entry: of an operator, or of a member of an account. */
export const AuditRole = Schema.Literals([...OperatorRole.literals, "member", "viewer"])

/** A change that an operator or a member made, or a sign-in. */
export const AdminAuditEntry = object("AdminAuditEntry", "A change that an operator or a member made, or a sign-in.", {
  id: text("The id of the entry, `aud_…`."),
  at: time("When the change was made."),
  actor: text(
    "The id of the operator, or `owner` for `KINORA_ADMIN_TOKEN`; in entries about sign-ins and members also the id of a " +
      "member, an API key or an account."
  ),
  role: nullable(AuditRole, "The role of the actor at that time; `null` if nobody was authenticated."),
  address: text("The network address of the request."),
  request_id: text("The `X-Request-Id` of the request."),
  action: text("The `operationId` of the request in this document, or in that of the console."),
  subject: nullable(Schema.String, "The id of the object that was changed."),
  before: field(Schema.Json, "The properties that the change concerns, before it; `null` if they are not recorded."),
  after: field(Schema.Json, "The properties that the change concerns, after it; `null` if they are not recorded.")
})

/** A page of the audit log. */
export const AdminAuditList = page("AdminAuditList", AdminAuditEntry, "the audit log, newest entries first")
