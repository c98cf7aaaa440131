/** Members of accounts, for operators and for members themselves. */
import { Account, Accounts } from "@kinora/accounts"
import type { AccountId } from "@kinora/accounts/Account"
import type { InviteMemberRequest } from "@kinora/http-api/AccountMember"
import { refuse } from "@kinora/http-api/ApiError"
import { Member, Members, Sessions } from "@kinora/sessions"
import { Effect, Option } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { note } from "../middleware/changes.ts"
import { currentRequest } from "../middleware/currentRequest.ts"
import * as People from "../middleware/people.ts"
import { invalidField } from "../middleware/refusals.ts"
import * as SignInLinks from "../SignInLinks.ts"

/**
 * Makes the functions that list and change the members of an account that exists. Changes run in the caller's unit of work and
 * add to its entry in the audit log.
 */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const members = yield* Members.Members
  const { createCode } = yield* Sessions.Sessions
  const revokeKeys = yield* makeRevokeKeys

  const linkOf = Effect.fnUntraced(function*(member: Member.Member) {
    const { origin } = yield* currentRequest
    const { code, expiresAt } = yield* createCode(People.grantOf(member))
    return {
      url: SignInLinks.linkOf(options.consoleUrl ?? options.baseUrl ?? origin, code),
      expires_at: expiresAt
    }
  })

  return {
    list: (account: AccountId) => Effect.map(members.list(account), (found) => ({ data: found.map(toWire) })),

    invite: Effect.fnUntraced(function*(account: AccountId, { email, role = "member" }: InviteMemberRequest) {
      if (!Account.isEmail(email)) return yield* invalidField("email", "must be an e-mail address")
      const key = Account.emailKey(email)
      const isMember = (yield* members.list(account)).some((member) => Account.emailKey(member.email) === key)
      if (isMember) return yield* refuse("member_exists")
      const member = yield* members.add({ ...Member.invitationOf(email), account, email, role })
      yield* note({ subject: member.id, after: { account, role } })
      yield* Effect.logInfo("A person was invited to an account", { account, member: member.id, role })
      return { ...toWire(member), link: yield* linkOf(member) }
    }),

    setRole: Effect.fnUntraced(function*(account: AccountId, id: Member.MemberId, role: Member.MemberRole) {
      const { role: former } = yield* members.get(account, id)
      const member = yield* members.setRole(account, id, role)
      yield* note({ before: { account, role: former }, after: { account, role } })
      yield* Effect.logInfo("The role of a member was changed", { account, member: id, role })
      return toWire(member)
    }),

    createLink: Effect.fnUntraced(function*(account: AccountId, id: Member.MemberId) {
      const member = yield* members.get(account, id)
      yield* note({ subject: id, after: { account, role: member.role } })
      yield* Effect.logInfo("A sign-in link of a member was created", { account, member: id })
      return yield* linkOf(member)
    }),

    remove: Effect.fnUntraced(function*(account: AccountId, id: Member.MemberId, isRevoking: boolean) {
      const { role } = yield* members.get(account, id)
      yield* members.remove(account, id)
      const revoked = isRevoking ? yield* revokeKeys(account, id) : []
      yield* note({ before: { account, role }, after: { account, revoked_keys: revoked } })
      yield* Effect.logInfo("A member was removed", { account, member: id, keys: revoked.length })
    })
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const toWire = (member: Member.Member) => ({
  id: member.id,
  email: member.email,
  role: member.role,
  status: Member.isInvited(member) ? "invited" as const : "active" as const,
  created_at: member.createdAt
})

/** Makes the function that revokes the keys in use that somebody has created, and returns their ids. */
const makeRevokeKeys = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  return Effect.fnUntraced(function*(account: AccountId, author: string) {
    const keys = (yield* accounts.listKeys(account)).filter(({ createdBy, revokedAt }) =>
      createdBy === author && Option.isNone(revokedAt)
    )
    for (const { id } of keys) yield* accounts.revokeKey(account, id)
    return keys.map(({ id }) => id)
  })
})
