/** The part of the operator API that creates sign-in links. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { SessionRole } from "./ConsoleSession.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { field, object, optional, parameter, text, time } from "./internal/fields.ts"
import { accountId } from "./internal/paths.ts"
import { shownOnce } from "./internal/shownOnce.ts"

/** Creates a sign-in link of an account. */
export const CreateSignInLinkRequest = object("CreateSignInLinkRequest", "The sign-in link to create.", {
  role: optional(
    Schema.Literals(["member", "viewer"]),
    "`member` can change the account, `viewer` can only read it. Default: `member`."
  )
})

/** A sign-in link. */
export const AdminSignInLink = object("AdminSignInLink", "A sign-in link. Whoever has it can sign in with it once.", {
  url: text("The link. Only this response contains it."),
  role: field(SessionRole, "The role of the session that it starts."),
  expires_at: time("Time from which the link does not work: 10 minutes after its creation.")
})
/** See the schema of the same name. */
export type AdminSignInLink = typeof AdminSignInLink.Type

const success = shownOnce(AdminSignInLink.pipe(HttpApiSchema.status(201)))

/** Creates sign-in links. */
export class AdminSignInLinks extends HttpApiGroup.make("links").add(
  configure(
    "operator",
    "Create a sign-in link of an account",
    "The link works once, within 10 minutes, and starts a session of the account with the role.",
    ["account_deleted", "console_disabled", "not_found", "too_many_links"],
    (error) =>
      HttpApiEndpoint.post("createAccountSignInLink", "/accounts/:id/sign-in-links", {
        params: accountId,
        payload: CreateSignInLinkRequest,
        success,
        error
      })
  ),
  operate(
    "owner",
    "Create a sign-in link of an operator",
    "The link works once, within 10 minutes, and starts a session with the role of the operator.",
    ["console_disabled", "not_found", "operator_ended", "too_many_links"],
    (error) =>
      HttpApiEndpoint.post("createOperatorSignInLink", "/operators/:id/sign-in-links", {
        params: { id: parameter("The id of the operator, `opr_…`, or `owner` for `KINORA_ADMIN_TOKEN`.") },
        success,
        error
      })
  )
).annotate(OpenApi.Description, "Create links with which people sign in to the console.") {}
