/** Owners of sessions: the account or the operator whose rights a session has. */
import { Account, Accounts, ApiKey, KeyBudget, KeyTerms } from "@kinora/accounts"
import { Operator, Operators } from "@kinora/operators"
import type { StorageError } from "@kinora/persistence/StorageError"
import { type Session, Sessions } from "@kinora/sessions"
import { DateTime, Effect, Option } from "effect"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as SignInLinks from "../SignInLinks.ts"
import type { Caller, RequestState } from "./currentRequest.ts"
import * as SessionCookie from "./sessionCookie.ts"

/** The owner of a session of an account. */
interface AccountOwner {
  readonly _tag: "Account"
  readonly caller: Caller
  /** The name of the API key of the session, if it has one. */
  readonly name: string | null
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
  const accounts = yield* Accounts.Accounts
  const operators = yield* Operators.Operators
  const sessions = yield* Sessions.Sessions
  const tokenOwner = options.adminToken === undefined ? undefined : yield* SignInLinks.ownerOf(options.adminToken)

  // An account, a key or an operator that does not exist has ended too.
  const findAccount = Effect.fnUntraced(function*(text: string) {
    const id = Account.AccountId.parse(text)
    if (id === undefined) return undefined
    const account = yield* accounts.get(id)
    return account.status === "active" ? account : undefined
  }, Effect.catchTag("AccountsError", () => Effect.undefined))

  const findKey = Effect.fnUntraced(function*(account: Account.AccountId, text: string) {
    const id = ApiKey.KeyId.parse(text)
    if (id === undefined) return undefined
    const key = yield* accounts.getKey(account, id)
    return Option.isSome(key.revokedAt) || KeyTerms.hasExpired(key.terms, yield* DateTime.now) ? undefined : key
  }, Effect.catchTag("AccountsError", () => Effect.undefined))

  const findOperator = Effect.fnUntraced(function*(text: string) {
    const id = Operator.OperatorId.parse(text)
    if (id === undefined) return undefined
    const operator = yield* operators.get(id)
    return Operator.isActive(operator, yield* DateTime.now) ? operator : undefined
  }, Effect.catchTag("OperatorsError", () => Effect.undefined))

  /** Returns the owner of a session with these rights, or `undefined` if the account, the key or the operator has ended. */
  const ownerOf = Effect.fnUntraced(
    function*(grant: Session.Grant, session: string): Effect.fn.Return<Owned["owner"] | undefined, StorageError> {
      if (grant.scope === "operator") {
        if (grant.operator === tokenOwner) return { _tag: "Operator", actor: "owner", role: "owner", name: null }
        const operator = yield* findOperator(grant.operator)
        return operator?.role === grant.role
          ? { _tag: "Operator", actor: operator.id, role: operator.role, name: operator.name }
          : undefined
      }
      const account = yield* findAccount(grant.account)
      if (account === undefined) return undefined
      if (grant.scope === "account") {
        const terms = grant.role === "viewer" ? reading : KeyTerms.unrestricted
        return { _tag: "Account", caller: { account, terms, keyId: undefined, session }, name: null }
      }
      const key = yield* findKey(account.id, grant.key)
      return key === undefined
        ? undefined
        : {
          _tag: "Account",
          caller: { account, terms: key.terms, keyId: key.id, budgetLine: budgetLineOf(key), session },
          name: key.name
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
