/** The part of the operator API that is about the members of accounts. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  AccountMember,
  AccountMemberList,
  invited,
  InviteMemberRequest,
  linked,
  memberId,
  removeMemberQuery,
  UpdateMemberRequest
} from "./AccountMember.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { parameter } from "./internal/fields.ts"

const account = "/accounts/:id"
const accountId = { id: parameter("The id of the account, `acct_…`.") }
const params = { ...accountId, member_id: memberId }

/** Lists, invites, changes and removes the members of an account. */
export class AdminMembers extends HttpApiGroup.make("members").add(
  operate(
    "auditor",
    "List the members of an account",
    undefined,
    ["not_found"],
    (error) =>
      HttpApiEndpoint.get("listMembers", `${account}/members`, { params: accountId, success: AccountMemberList, error })
  ),
  configure(
    "operator",
    "Invite a person to an account",
    "The response has a link that works once, within 10 minutes. A person who signs in with an identity provider or a proxy " +
      "with this e-mail address, if it is verified, is the same member.",
    ["account_deleted", "console_disabled", "member_exists", "not_found", "too_many_links", "too_many_members"],
    (error) =>
      HttpApiEndpoint.post("inviteMember", `${account}/members`, {
        params: accountId,
        payload: InviteMemberRequest,
        success: invited,
        error
      })
  ),
  configure(
    "operator",
    "Change the role of a member",
    "Ends the sessions of the member, since the rights of a session do not change.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.patch("updateMember", `${account}/members/:member_id`, {
        params,
        payload: UpdateMemberRequest,
        success: AccountMember,
        error
      })
  ),
  operate(
    "operator",
    "Create a sign-in link of a member",
    "The link works once, within 10 minutes, and starts a session of the member.",
    ["account_deleted", "console_disabled", "not_found", "too_many_links"],
    (error) =>
      HttpApiEndpoint.post("createMemberSignInLink", `${account}/members/:member_id/sign-in-links`, {
        params,
        success: linked,
        error
      })
  ),
  operate(
    "operator",
    "Remove a member",
    "Ends the sessions of the member, and with `revoke_keys` those of the API keys that the member has created.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("removeMember", `${account}/members/:member_id`, {
        params,
        query: removeMemberQuery,
        success: HttpApiSchema.NoContent,
        error
      })
  )
).annotate(OpenApi.Description, "List, invite, change and remove the members of accounts.") {}
