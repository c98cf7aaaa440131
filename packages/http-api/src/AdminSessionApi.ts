/** The part of the operator API that is about the sessions of operators. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { operate } from "./internal/adminOperation.ts"
import { list, nullable, object, parameter, text, time } from "./internal/fields.ts"

/** A session of an operator. */
export const AdminOperatorSession = object("AdminOperatorSession", "A session of an operator in the console.", {
  id: text("The id of the session, `ses_…`."),
  device: nullable(Schema.String, "The `User-Agent` of the sign-in, at most 256 characters."),
  address: text("The network address of the sign-in."),
  created_at: time("When the session was created."),
  seen_at: time("When the session was last used, accurate to a minute."),
  expires_at: time("When the session ends, even if it is used."),
  idle_expires_at: time("When the session ends unless it is used before.")
})

/** The sessions of an operator. */
export const AdminOperatorSessionList = object("AdminOperatorSessionList", "The sessions of an operator.", {
  data: list(AdminOperatorSession, "The sessions that have not ended, the one that was used last first; at most 20.")
})

const operatorId = {
  id: parameter(
    "The id of the operator: `opr_…`, `owner` for `KINORA_ADMIN_TOKEN`, or `oidc:…` for one of an identity provider."
  )
}
const sessions = "/operators/:id/sessions"

/** Lists and ends the sessions of operators. */
export class AdminSessions extends HttpApiGroup.make("sessions").add(
  operate(
    "auditor",
    "List the sessions of an operator",
    undefined,
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listOperatorSessions", sessions, {
        params: operatorId,
        success: AdminOperatorSessionList,
        error
      })
  ),
  operate(
    "owner",
    "End all sessions of an operator",
    "Their cookies are rejected on every server at once, and sign-in links that were not used do not work. The tokens of " +
      "the operator still work. Idempotent.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("endOperatorSessions", sessions, {
        params: operatorId,
        success: HttpApiSchema.NoContent,
        error
      })
  ),
  operate(
    "owner",
    "End a session of an operator",
    "Its cookie is rejected on every server at once.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("endOperatorSession", `${sessions}/:session_id`, {
        params: { ...operatorId, session_id: parameter("The id of the session, `ses_…`.") },
        success: HttpApiSchema.NoContent,
        error
      })
  )
).annotate(OpenApi.Description, "List and end the sessions of operators.") {}
