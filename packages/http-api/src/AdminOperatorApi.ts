/** The part of the operator API that is about operators and the audit log. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AdminAuditList,
  AdminNewOperator,
  AdminOperatorList,
  CreateOperatorRequest,
  RotateOperatorRequest
} from "./AdminOperator.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { optionalParameter, parameter, requestTime } from "./internal/fields.ts"
import { pageQueryById } from "./internal/pages.ts"
import { shownOnce } from "./internal/shownOnce.ts"

const operatorId = { id: parameter("The id of the operator, `opr_…`.") }

/** Creates, lists, rotates and revokes operators. */
export class AdminOperators extends HttpApiGroup.make("operators").add(
  configure(
    "owner",
    "Create an operator",
    "Only this response contains the token; the service stores a digest.",
    ["too_many_operators"],
    (error) =>
      HttpApiEndpoint.post("createOperator", "/operators", {
        payload: CreateOperatorRequest,
        success: shownOnce(AdminNewOperator.pipe(HttpApiSchema.status(201))),
        error
      })
  ),
  operate(
    "auditor",
    "List the operators",
    "Newest first, revoked ones last.",
    [],
    (error) => HttpApiEndpoint.get("listOperators", "/operators", { success: AdminOperatorList, error })
  ),
  configure(
    "owner",
    "Rotate the token of an operator",
    "Only this response contains the new token. The former token works for `overlap_seconds`. A second rotation within " +
      "this time ends the oldest token.",
    ["not_found", "operator_ended"],
    (error) =>
      HttpApiEndpoint.post("rotateOperator", "/operators/:id/rotate", {
        params: operatorId,
        payload: RotateOperatorRequest,
        success: shownOnce(AdminNewOperator),
        error
      })
  ),
  operate(
    "owner",
    "Revoke an operator",
    "Its tokens are rejected on every server at once. Idempotent.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("revokeOperator", "/operators/:id", {
        params: operatorId,
        success: HttpApiSchema.NoContent,
        error
      })
  )
).annotate(OpenApi.Description, "Create, list, rotate and revoke operators.") {}

/** Lists the audit log. */
export class AdminAudit extends HttpApiGroup.make("audit").add(
  operate(
    "auditor",
    "List the audit log",
    "The changes that operators made, newest first. Pass `next_cursor` of one page as `cursor` for the next page.",
    ["invalid_params"],
    (error) =>
      HttpApiEndpoint.get("listAudit", "/audit", {
        query: {
          actor: optionalParameter("Returns only entries of this operator."),
          action: optionalParameter("Returns only entries of this operation, such as `accounts.suspendAccount`."),
          subject: optionalParameter("Returns only entries about the object with this id."),
          since: Schema.optionalKey(requestTime("Returns only entries from this time on.")),
          until: Schema.optionalKey(requestTime("Returns only entries before this time.")),
          ...pageQueryById
        },
        success: AdminAuditList,
        error
      })
  )
).annotate(OpenApi.Description, "List the changes that operators made.") {}
