/** Creating, finding and changing accounts. */
import type { Verification } from "@kinora/api-keys/Verification"
import { Pipelining, UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Account, AccountId, type AccountStatus, emailKey, isEmail } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import type { Identity } from "../Identity.ts"
import * as Plan from "../Plan.ts"

/** The methods of `Accounts` for accounts and their plans, and `lock` and `open` for the other modules. */
export type AccountChanges = Effect.Success<ReturnType<typeof makeAccountChanges>>

/** Creates the methods. */
export const makeAccountChanges = Effect.fnUntraced(function*(evict: Verification<Identity>["evict"]) {
  const store = yield* AccountStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom

  const get = Effect.fn("Accounts.get")(function*(id: AccountId) {
    return yield* orNotFound(id, yield* store.findAccount(id))
  })

  /** Locks and returns the account, which may be deleted. Removes it from the cache when the unit commits. */
  const lock = Effect.fnUntraced(function*(id: AccountId) {
    const account = yield* orNotFound(id, yield* store.lockAccount(id))
    yield* evict((identity) => identity.account.id === id)
    return account
  })

  /** Locks and returns the account, unless it is deleted. */
  const open = Effect.fnUntraced(function*(id: AccountId) {
    return yield* notDeleted(yield* lock(id))
  })

  const setStatus = Effect.fnUntraced(function*(id: AccountId, status: AccountStatus) {
    const account = yield* open(id)
    yield* store.saveStatus(id, status)
    return { ...account, status }
  }, atomically)

  return {
    lock,
    open,
    get,

    create: Effect.fn("Accounts.create")(function*({ email }: { readonly email: string }) {
      if (!isEmail(email)) return yield* refuse(new AccountsError.EmailInvalid())
      const id = yield* Effect.provideService(AccountId.make, SecureRandom.SecureRandom, random)
      const createdAt = yield* DateTime.now
      const account: Account = { id, email, status: "active", plans: Plan.none, balanceCents: 0, createdAt }
      return (yield* store.insertAccount(account)) ? account : yield* refuse(new AccountsError.EmailTaken({ email }))
    }),

    findByEmail: Effect.fn("Accounts.findByEmail")((email: string) => store.findAccountByEmail(emailKey(email))),

    changeEmail: Effect.fn("Accounts.changeEmail")(function*(id: AccountId, email: string) {
      if (!isEmail(email)) return yield* refuse(new AccountsError.EmailInvalid())
      const account = yield* open(id)
      return (yield* store.saveEmail(id, email))
        ? { ...account, email }
        : yield* refuse(new AccountsError.EmailTaken({ email }))
    }, atomically),

    suspend: Effect.fn("Accounts.suspend")((id: AccountId) => setStatus(id, "suspended")),

    resume: Effect.fn("Accounts.resume")((id: AccountId) => setStatus(id, "active")),

    setPlan: Effect.fn("Accounts.setPlan")(function*<Group extends Plan.PlanGroup>(
      id: AccountId,
      group: Group,
      plan: Option.Option<Plan.Plan<Plan.Tiers[Group]>>
    ) {
      yield* open(id)
      yield* Pipelining.atCommit(store.savePlan(id, group, plan))
    }, atomically),

    plans: Effect.fn("Accounts.plans")((id: AccountId) => Effect.map(get(id), ({ plans }) => plans))
  }
})

/** Returns whether an account is deleted, erased or not. */
export const isDeleted = ({ status }: Account) => status === "deleted" || status === "erased"

/** Fails with `AccountDeleted` if the account is deleted. */
export const notDeleted = (account: Account) =>
  isDeleted(account) ? Effect.fail(refuseDeleted(account)) : Effect.succeed(account)

/** Creates the error of a change of a deleted account. */
export const refuseDeleted = ({ id, status }: Account) =>
  refuse(new AccountsError.AccountDeleted({ account: id, erased: status === "erased" }))

/** Creates the error of a rejected command. */
export const refuse = (reason: AccountsError.AccountsErrorReason) => new AccountsError.AccountsError({ reason })

/** Fails with `AccountNotFound` if the account was not found. */
export const orNotFound = (account: AccountId, found: Option.Option<Account>) =>
  Option.isSome(found)
    ? Effect.succeed(found.value)
    : Effect.fail(refuse(new AccountsError.AccountNotFound({ account })))
