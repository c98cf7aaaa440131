/** The rights of people whom an identity provider, or the proxy in front, has authenticated. */
import { Account, Accounts } from "@kinora/accounts"
import { OperatorRole } from "@kinora/http-api/RequestPolicy"
import type { Operator } from "@kinora/operators"
import { UnitOfWork } from "@kinora/persistence"
import { Member, Members, type Session } from "@kinora/sessions"
import type { GroupRule, IdentityProvider, Person } from "@kinora/sessions/IdentityProviders"
import { Data, Effect, Option } from "effect"

/** The person is neither an operator nor a member of an active account. */
class NoAccount extends Data.TaggedError("NoAccount")<{
  /** Whether an unverified address is the reason that no account was looked for. */
  readonly isUnverified: boolean
}> {}

/** Returns the ids, in sessions, of the people of a provider who are operators. */
export const operatorIdOf = (provider: string, { email, isEmailVerified, subject }: Person): string =>
  `${operatorStart}${provider}:${isEmailVerified && email !== undefined ? email : subject}`

/** Returns the provider and the name of an operator whose id `operatorIdOf` has made. */
export const operatorOf = (id: string): { readonly provider: string; readonly name: string } | undefined => {
  const [, provider, name] = /^oidc:([a-z0-9-]+):(.+)$/s.exec(id) ?? []
  return provider === undefined || name === undefined ? undefined : { provider, name }
}

/** Returns whether a provider has a rule with this role of operators. */
export const hasOperatorRole = ({ rules }: IdentityProvider, role: Operator.Role): boolean =>
  rules.some((rule) => "operator" in rule && rule.operator === role)

/** Returns the highest role of operators that the groups of a person have. */
export const operatorRoleOf = (rules: ReadonlyArray<GroupRule>, groups: ReadonlyArray<string>) =>
  OperatorRole.literals.findLast((role) =>
    rules.some((rule) => "operator" in rule && rule.operator === role && groups.includes(rule.group))
  )

/**
 * Makes the function that updates the memberships of a person, and returns the member as whom the person signs in. The
 * update is a unit of work of its own, so that a person whose groups have ended all memberships loses them.
 *
 * Groups decide first: of the accounts that the rules name, the person is a member of those of the person's groups, and of no
 * others. A person with a verified e-mail address is also a member of the account with this address, and of those that have
 * invited the address. Of several accounts, the one with the address comes first, then the one joined first.
 */
export const makeFindMember = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const members = yield* Members.Members
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const { join, leave } = yield* makeChanges
  const ruledAccounts = yield* makeRuledAccounts

  const findOwn = Effect.fnUntraced(function*({ email, isEmailVerified }: Person) {
    if (!isEmailVerified || email === undefined || !Account.isEmail(email)) return undefined
    return Option.getOrUndefined(Option.filter(yield* accounts.findByEmail(email), ({ status }) => status === "active"))
  })

  const isActive = (member: Member.Member) =>
    Effect.map(findActive(accounts, member.account), (account) => account !== undefined)

  const update = Effect.fnUntraced(function*(person: Person, rules: ReadonlyArray<GroupRule>) {
    const ruled = yield* ruledAccounts(rules, person.groups)
    yield* leave(person, ruled)
    for (const [account, role] of ruled) if (role !== undefined) yield* join(account, person, role, true)
    const own = yield* findOwn(person)
    if (person.isEmailVerified && person.email !== undefined) {
      for (const invited of yield* members.find(Member.invitationOf(person.email))) {
        if (!ruled.has(invited.account)) yield* join(invited.account, person, invited.role, false)
      }
      if (own !== undefined && !ruled.has(own.id)) yield* join(own.id, person, "member", false)
    }
    // The oldest first.
    const found = yield* Effect.filter((yield* members.find(person)).toReversed(), isActive)
    return found.find(({ account }) => account === own?.id) ?? found[0]
  }, atomically)

  return (person: Person, rules: ReadonlyArray<GroupRule>) =>
    Effect.flatMap(
      update(person, rules),
      (member) =>
        member === undefined ? new NoAccount({ isUnverified: !person.isEmailVerified }) : Effect.succeed(member)
    )
})

/** Returns the rights of a member. */
export const grantOf = ({ account, id, role }: Member.Member): Session.Grant => ({
  scope: "account",
  account,
  role,
  member: id
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const operatorStart = "oidc:"

/** The account of an id if it is active. */
const findActive = Effect.fnUntraced(function*(accounts: Accounts.Accounts["Service"], text: string) {
  const id = Account.AccountId.parse(text)
  if (id === undefined) return undefined
  const account = yield* accounts.get(id)
  return account.status === "active" ? account : undefined
}, Effect.catchTag("AccountsError", () => Effect.undefined))

/**
 * Makes the function that returns the active accounts that the rules name, with the role of a person of these groups there, or
 * `undefined` if the person has none.
 */
const makeRuledAccounts = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts

  return Effect.fnUntraced(function*(rules: ReadonlyArray<GroupRule>, groups: ReadonlyArray<string>) {
    const roles = new Map<string, Member.MemberRole | undefined>()
    for (const rule of rules) {
      if ("operator" in rule) continue
      const account = rule.account.includes("@")
        ? Option.getOrUndefined(yield* accounts.findByEmail(rule.account))
        : yield* findActive(accounts, rule.account)
      if (account === undefined) {
        yield* Effect.logWarning("The account of a group does not exist", { group: rule.group, account: rule.account })
        continue
      }
      const role = groups.includes(rule.group) ? rule.role : undefined
      roles.set(account.id, roles.get(account.id) === "member" ? "member" : role ?? roles.get(account.id))
    }
    return roles
  })
})

/** Makes the functions that add a person to an account, and that remove a person from accounts. */
const makeChanges = Effect.gen(function*() {
  const members = yield* Members.Members

  /** Takes over an invitation of the address. `decides`: the role of a member becomes this one. */
  const join = Effect.fnUntraced(function*(
    account: string,
    { email, isEmailVerified, issuer, subject }: Person,
    role: Member.MemberRole,
    decides: boolean
  ) {
    const known = (yield* members.find({ issuer, subject })).find((member) => member.account === account)
    const invited = isEmailVerified && email !== undefined
      ? (yield* members.find(Member.invitationOf(email))).find((member) => member.account === account)
      : undefined
    if (invited !== undefined) {
      // If the person has become a member, the invitation is no longer needed.
      if (known === undefined) yield* members.identify(account, invited.id, { issuer, subject })
      else yield* members.remove(account, invited.id)
    }
    const member = known ?? invited ??
      (yield* members.add({ account, issuer, subject, email: email ?? subject, role }))
    if (decides) yield* members.setRole(account, member.id, role)
  }, (joined, account) =>
    // Another sign-in has added the member meanwhile, the account is full, or the texts are not valid. The person may be a
    // member of other accounts.
    Effect.catchTag(joined, "SessionsError", ({ reason }) =>
      Effect.logWarning("A person could not become a member of an account", { account, reason: reason._tag })))

  const leave = Effect.fnUntraced(function*(person: Person, ruled: ReadonlyMap<string, Member.MemberRole | undefined>) {
    for (const { account, id } of yield* members.find(person)) {
      if (ruled.has(account) && ruled.get(account) === undefined) yield* members.remove(account, id)
    }
    // Another sign-in has removed the member meanwhile.
  }, Effect.catchTag("SessionsError", () => Effect.void))

  return { join, leave }
})
