/** Owners of sessions: the account or the operator whose rights a session has. */
import { Account, Accounts, ApiKey, KeyBudget, KeyTerms } from "@kinora/accounts"
import { Operator, Operators, type OperatorsError } from "@kinora/operators"
import type { StorageError } from "@kinora/persistence/StorageError"
import { IdentityProviders, type Member, Members, type Session, Sessions } from "@kinora/sessions"
import { DateTime, Effect, Option } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as SignInLinks from "../SignInLinks.ts"
import type { Caller, RequestState } from "./currentRequest.ts"
import * as People from "./people.ts"
import * as SessionCookie from "./sessionCookie.ts"

/** The owner of a session of an account. */
interface AccountOwner {
  readonly _tag: "Account"
  readonly caller: Caller
  /** The name of the API key of the session, or the e-mail address of the member, if it has one. */
  readonly name: string | null
  /** The member, unless the session was created with a key or with a link of the account. */
  readonly member: Member.Member | undefined
}

/** The owner of a session of an operator. */
interface OperatorOwner {
  readonly _tag: "Operator"
  readonly actor: string
  readonly role: Operator.Role
  readonly name: string | null
}

/** The account that an operator views. */
export interface OwnedView {
  readonly caller: Caller
  readonly until: DateTime.Utc
}

/** A session and its owner. */
export interface Owned {
  readonly session: Session.Session
  readonly owner: AccountOwner | OperatorOwner
  /** `undefined` if the session views no active account. */
  readonly view: OwnedView | undefined
}

/** Returns the caller whose account a session reads or changes, if it has one. */
export const callerOf = ({ owner, view }: Owned): Caller | undefined =>
  owner._tag === "Account" ? owner.caller : view?.caller

/** Makes the functions that find the owners of sessions. */
export const make = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const sessions = yield* Sessions.Sessions
  const { findAccount, findKey, findMember } = yield* makeFindOfAccount
  const findOperator = yield* makeFindOperator(options)

  /** Returns the owner of a session with these rights, or `undefined` if the account, the member, the key or the operator has ended. */
  const ownerOf = Effect.fnUntraced(
    function*(grant: Session.Grant, session: string): Effect.fn.Return<Owned["owner"] | undefined, StorageError> {
      if (grant.scope === "operator") return yield* findOperator(grant)
      const account = yield* findAccount(grant.account)
      if (account === undefined) return undefined
      if (grant.scope === "account") {
        const member = grant.member === null ? undefined : yield* findMember(grant.account, grant.member)
        // A sign-in can start a session while the member is removed.
        if (grant.member !== null && member?.role !== grant.role) return undefined
        const terms = grant.role === "viewer" ? reading : KeyTerms.unrestricted
        return {
          _tag: "Account",
          caller: { account, terms, keyId: undefined, session },
          name: member?.email ?? null,
          member
        }
      }
      const key = yield* findKey(account.id, grant.key)
      return key === undefined
        ? undefined
        : {
          _tag: "Account",
          caller: { account, terms: key.terms, keyId: key.id, budgetLine: budgetLineOf(key), session },
          name: key.name,
          member: undefined
        }
    }
  )

  /** Returns the session of a request and its owner. Ends the session if its owner has ended. */
  const find = Effect.fnUntraced(function*(state: RequestState, how: "authenticate" | "peek") {
    const token = SessionCookie.tokenOf(state, options)
    if (token === undefined) return undefined
    const session = yield* sessions[how](token)
    const owner = yield* ownerOf(session.grant, session.id)
    if (owner !== undefined) return { session, owner, view: yield* viewOf(session, findAccount) }
    yield* sessions.signOut(token)
    return undefined
  }, Effect.catchTag("SessionRejected", () => Effect.undefined))

  return { find, ownerOf }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes the functions that find what belongs to an account. What does not exist has ended too. */
const makeFindOfAccount = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const members = yield* Members.Members

  return {
    findAccount: Effect.fnUntraced(function*(text: string) {
      const id = Account.AccountId.parse(text)
      if (id === undefined) return undefined
      const account = yield* accounts.get(id)
      return account.status === "active" ? account : undefined
    }, Effect.catchTag("AccountsError", () => Effect.undefined)),

    findKey: Effect.fnUntraced(function*(account: Account.AccountId, text: string) {
      const id = ApiKey.KeyId.parse(text)
      if (id === undefined) return undefined
      const key = yield* accounts.getKey(account, id)
      return Option.isSome(key.revokedAt) || KeyTerms.hasExpired(key.terms, yield* DateTime.now) ? undefined : key
    }, Effect.catchTag("AccountsError", () => Effect.undefined)),

    findMember: (account: string, id: Member.MemberId) =>
      Effect.catchTag(members.get(account, id), "SessionsError", () => Effect.undefined)
  }
})

/** Makes the function that finds the operator of a session: of `KINORA_ADMIN_TOKEN`, of a token, or of an identity provider. */
const makeFindOperator = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const operators = yield* Operators.Operators
  const providers = yield* IdentityProviders.IdentityProviders
  const tokenOwner = options.adminToken === undefined ? undefined : yield* SignInLinks.ownerOf(options.adminToken)

  return Effect.fnUntraced(
    function*(grant: Extract<Session.Grant, { scope: "operator" }>): Effect.fn.Return<
      OperatorOwner | undefined,
      StorageError | OperatorsError.OperatorsError
    > {
      const { operator: text, role } = grant
      if (text === tokenOwner) return { _tag: "Operator", actor: "owner", role: "owner", name: null }
      const person = People.operatorOf(text)
      if (person !== undefined) {
        // A provider that is no longer configured, or that does not give the role any more, has ended the operator.
        const provider = providers.find(({ id }) => id === person.provider)
        return provider !== undefined && People.hasOperatorRole(provider, role)
          ? { _tag: "Operator", actor: text, role, name: person.name }
          : undefined
      }
      const id = Operator.OperatorId.parse(text)
      if (id === undefined) return undefined
      const operator = yield* operators.get(id)
      return Operator.isActive(operator, yield* DateTime.now) && operator.role === role
        ? { _tag: "Operator", actor: operator.id, role, name: operator.name }
        : undefined
    },
    Effect.catchTag("OperatorsError", () => Effect.undefined)
  )
})

/** Returns the account that a session of an operator views, unless the account has ended. */
const viewOf = Effect.fnUntraced(function*(
  { id, view }: Session.Session,
  findAccount: (id: string) => Effect.Effect<Account.Account | undefined, StorageError>
) {
  if (Option.isNone(view)) return undefined
  const account = yield* findAccount(view.value.account)
  if (account === undefined) return undefined
  const caller: Caller = { account, terms: reading, keyId: undefined, session: id, isView: true }
  return { caller, until: view.value.until }
})

/** Returns the line by whose budget the jobs of a key count, if it has one. */
const budgetLineOf = ({ budget, line }: ApiKey.ApiKey) => KeyBudget.isUnlimited(budget) ? undefined : line

/** The rights of viewers. */
const reading: KeyTerms.KeyTerms = { ...KeyTerms.unrestricted, scopes: Option.some(["read", "account:read"]) }
