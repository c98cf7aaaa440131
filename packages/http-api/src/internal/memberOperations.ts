/** The operations on members that the operator API and the API of the console have in common, without their paths. */
import { HttpApiSchema } from "effect/http-api"
import {
  AccountMember,
  invited,
  InviteMemberRequest,
  linked,
  removeMemberQuery,
  UpdateMemberRequest
} from "../AccountMember.ts"

/** The invitation of a person. */
export const invitation = {
  description:
    "The response has a link that works once, within 10 minutes. A person who signs in with an identity provider or a proxy " +
    "with this e-mail address, if it is verified, is the same member.",
  schemas: { payload: InviteMemberRequest, success: invited }
}

/** The change of the role of a member. */
export const roleChange = {
  summary: "Change the role of a member",
  description: "Ends the sessions of the member, since the rights of a session do not change.",
  schemas: { payload: UpdateMemberRequest, success: AccountMember }
}

/** The creation of a sign-in link. */
export const link = {
  summary: "Create a sign-in link of a member",
  description: "The link works once, within 10 minutes, and starts a session of the member.",
  schemas: { success: linked }
}

/** The removal of a member. */
export const removal = {
  summary: "Remove a member",
  description:
    "Ends the sessions of the member, and with `revoke_keys` those of the API keys that the member has created.",
  schemas: { query: removeMemberQuery, success: HttpApiSchema.NoContent }
}
