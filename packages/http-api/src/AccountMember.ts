/** Members of an account: people who sign in with a link, an identity provider or a proxy. */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { field, list, object, optional, parameter, text, time } from "./internal/fields.ts"
import { shownOnce } from "./internal/shownOnce.ts"

/** Role of a member. */
export const MemberRole = Schema.Literals(["member", "viewer"])

/** Status of a member. */
export const MemberStatus = Schema.Literals(["invited", "active"])

const member = {
  id: text("The id of the member, `mem_…`."),
  email: text("The e-mail address of the person."),
  role: field(MemberRole, "`member` can change the account, `viewer` can only read it."),
  status: field(
    MemberStatus,
    "`invited` until the person has signed in with an identity provider or a proxy; sign-in links work for both."
  ),
  created_at: time("When the person was invited or has signed in first.")
}

/** A member of an account. */
export const AccountMember = object("AccountMember", "A member of an account.", member)

/** The members of an account. */
export const AccountMemberList = object("AccountMemberList", "The members of an account.", {
  data: list(AccountMember, "The members, newest first; at most 100.")
})

/** A sign-in link of a member. */
export const MemberSignInLink = object("MemberSignInLink", "A sign-in link. Whoever has it can sign in with it once.", {
  url: text("The link. Only this response contains it."),
  expires_at: time("Time from which the link does not work: 10 minutes after its creation.")
})

/** A person who was invited, and the first sign-in link. */
export const InvitedMember = object("InvitedMember", "A person who was invited, and a sign-in link.", {
  ...member,
  link: field(MemberSignInLink, "The first sign-in link of the member.")
})

/** Invites a person. */
export const InviteMemberRequest = object("InviteMemberRequest", "The person to invite.", {
  email: field(Schema.String.check(Schema.isBetweenLength(1, 254)), "The e-mail address of the person."),
  role: optional(MemberRole, "The role of the member. Default: `member`.")
})
/** See the schema of the same name. */
export type InviteMemberRequest = typeof InviteMemberRequest.Type

/** Changes a member. */
export const UpdateMemberRequest = object("UpdateMemberRequest", "The change of the member.", {
  role: field(MemberRole, "The new role.")
})

/** The query of a removal. */
export const removeMemberQuery = {
  revoke_keys: Schema.optionalKey(
    Schema.Literals(["true", "false"]).annotate({
      description: "`true` also revokes the API keys that the member has created. Default: `false`."
    })
  )
}

/** The response with a person who was invited. */
export const invited = shownOnce(InvitedMember.pipe(HttpApiSchema.status(201)))

/** The response with a sign-in link. */
export const linked = shownOnce(MemberSignInLink.pipe(HttpApiSchema.status(201)))

/** The description of the id of a member in paths. */
export const memberId = parameter("The id of the member, `mem_…`.")
