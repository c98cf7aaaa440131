/** Members of accounts: people who sign in with an identity provider. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"

/** Codec and constructors of member ids, `mem_…`. */
export const MemberId = TypeId.define("mem", "MemberId")
/** Type of `MemberId`. */
export type MemberId = TypeId.Id<"MemberId">

/** Role of a member: `member` can change the account, `viewer` can only read it. */
export const MemberRole = Schema.Literals(["member", "viewer"])
/** Type of `MemberRole`. */
export type MemberRole = typeof MemberRole.Type

/** The identity of a person at an identity provider. */
export interface Identity {
  /** The URL of the provider. */
  readonly issuer: string
  /** The id of the person there. */
  readonly subject: string
}

/** A member of an account. A person can be a member of several accounts. */
export interface Member extends Identity {
  readonly id: MemberId
  readonly account: string
  readonly email: string
  readonly role: MemberRole
  readonly createdAt: DateTime.Utc
}

/** The issuer of invited people, who have not signed in with an identity provider yet. Their subject is the e-mail address. */
export const invitationIssuer = "invitation"

/** Returns the identity of an invitation of an e-mail address. Letter case makes no difference. */
export const invitationOf = (email: string): Identity => ({
  issuer: invitationIssuer,
  subject: email.trim().toLowerCase()
})

/** Returns whether a member was invited and has not signed in with an identity provider yet. */
export const isInvited = ({ issuer }: Identity): boolean => issuer === invitationIssuer

/** Maximum length of an issuer, a subject or an e-mail address, in UTF-16 code units. */
export const textCharsMax = 512

/** Returns whether `text` can be an issuer, a subject or an e-mail address: not empty, not too long, without control characters. */
export const isText = (text: string): boolean =>
  text !== "" && text.length <= textCharsMax && !/\p{Cc}/u.test(text) && text.isWellFormed()
