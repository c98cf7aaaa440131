/** The part of the operator API that is about the members of accounts. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AccountMemberList, memberId } from "./AccountMember.ts"
import { configure, operate } from "./internal/adminOperation.ts"
import { invitation, link, removal, roleChange } from "./internal/memberOperations.ts"
import { account, accountId } from "./internal/paths.ts"

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
    invitation.description,
    ["account_deleted", "console_disabled", "member_exists", "not_found", "too_many_links", "too_many_members"],
    (error) =>
      HttpApiEndpoint.post("inviteMember", `${account}/members`, {
        params: accountId,
        ...invitation.schemas,
        error
      })
  ),
  configure(
    "operator",
    roleChange.summary,
    roleChange.description,
    ["not_found"],
    (error) =>
      HttpApiEndpoint.patch("updateMember", `${account}/members/:member_id`, {
        params,
        ...roleChange.schemas,
        error
      })
  ),
  operate(
    "operator",
    link.summary,
    link.description,
    ["account_deleted", "console_disabled", "not_found", "too_many_links"],
    (error) =>
      HttpApiEndpoint.post("createMemberSignInLink", `${account}/members/:member_id/sign-in-links`, {
        params,
        ...link.schemas,
        error
      })
  ),
  operate(
    "operator",
    removal.summary,
    removal.description,
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("removeMember", `${account}/members/:member_id`, {
        params,
        ...removal.schemas,
        error
      })
  )
).annotate(OpenApi.Description, "List, invite, change and remove the members of accounts.") {}
