/** The part of the API of the console that is about the members of the account. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConsoleAuth } from "./Access.ts"
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
import { alter, browse, submit } from "./internal/consoleOperation.ts"
import * as Policy from "./RequestPolicy.ts"

const params = { id: memberId }

/** Lists, invites, changes and removes the members of the account. */
export class ConsoleMembers extends HttpApiGroup.make("members").add(
  browse(
    Policy.browsing("viewer"),
    "List the members",
    undefined,
    [],
    (error) => HttpApiEndpoint.get("listMembers", "/members", { success: AccountMemberList, error })
  ),
  submit(
    Policy.browsing("member"),
    "Invite a person",
    "The response has a link that works once, within 10 minutes. A person who signs in with an identity provider or a proxy " +
      "with this e-mail address, if it is verified, is the same member.",
    ["member_exists", "too_many_members", "too_many_links"],
    (error) =>
      HttpApiEndpoint.post("inviteMember", "/members", { payload: InviteMemberRequest, success: invited, error })
  ),
  submit(
    Policy.browsing("member"),
    "Change the role of a member",
    "Ends the sessions of the member, since the rights of a session do not change.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.patch("updateMember", "/members/:id", {
        params,
        payload: UpdateMemberRequest,
        success: AccountMember,
        error
      })
  ),
  alter(
    Policy.browsing("member"),
    "Create a sign-in link of a member",
    "The link works once, within 10 minutes, and starts a session of the member.",
    ["not_found", "too_many_links"],
    (error) =>
      HttpApiEndpoint.post("createMemberSignInLink", "/members/:id/sign-in-links", { params, success: linked, error })
  ),
  alter(
    Policy.browsing("member"),
    "Remove a member",
    "Ends the sessions of the member, and with `revoke_keys` those of the API keys that the member has created.",
    ["not_found"],
    (error) =>
      HttpApiEndpoint.delete("removeMember", "/members/:id", {
        params,
        query: removeMemberQuery,
        success: HttpApiSchema.NoContent,
        error
      })
  )
).middleware(ConsoleAuth).annotate(
  OpenApi.Description,
  "List, invite, change and remove the members of the account."
) {}
