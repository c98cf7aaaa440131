/** The part of the API of the console that is about the members of the account. */
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ConsoleAuth } from "./Access.ts"
import { AccountMemberList, memberId } from "./AccountMember.ts"
import { alter, browse, submit } from "./internal/consoleOperation.ts"
import { invitation, link, removal, roleChange } from "./internal/memberOperations.ts"
import * as Policy from "./RequestPolicy.ts"

const params = { id: memberId }

/** Lists, invites, changes and removes the members of the account. */
export class ConsoleMembers extends HttpApiGroup.make("members").add(
  browse(
    Policy.browsing("viewer"),
    "List the members",
    "The people who sign in to the account, newest first.",
    [],
    (error) => HttpApiEndpoint.get("listMembers", "/members", { success: AccountMemberList, error })
  ),
  submit(
    Policy.browsing("member"),
    "Invite a person",
    invitation.description,
    ["member_exists", "too_many_members", "too_many_links"],
    (error) => HttpApiEndpoint.post("inviteMember", "/members", { ...invitation.schemas, error })
  ),
  submit(
    Policy.browsing("member"),
    roleChange.summary,
    roleChange.description,
    ["not_found"],
    (error) =>
      HttpApiEndpoint.patch("updateMember", "/members/:id", {
        params,
        ...roleChange.schemas,
        error
      })
  ),
  alter(
    Policy.browsing("member"),
    link.summary,
    link.description,
    ["not_found", "too_many_links"],
    (error) =>
      HttpApiEndpoint.post("createMemberSignInLink", "/members/:id/sign-in-links", { params, ...link.schemas, error })
  ),
  alter(
    Policy.browsing("member"),
    removal.summary,
    removal.description,
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("removeMember", "/members/:id", {
        params,
        ...removal.schemas,
        error
      })
  )
).middleware(ConsoleAuth).annotate(
  OpenApi.Description,
  "List, invite, change and remove the members of the account."
) {}
