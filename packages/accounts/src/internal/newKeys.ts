/** Creating and rolling API keys. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import * as ApiKey from "../ApiKey.ts"
import * as KeyBudget from "../KeyBudget.ts"
import * as KeyTerms from "../KeyTerms.ts"
import { notDeleted, orNotFound, refuse } from "./accountChanges.ts"
import type { KeyCache } from "./keyCache.ts"
import { makeFindActive, validBudget, validName } from "./keyChanges.ts"

/** Options for `makeNewKeys`. */
export interface NewKeysOptions {
  readonly cache: KeyCache
  /** Maximum number of active keys of an account. */
  readonly keysMax: number
}

/** Creates the methods of `Accounts` that return a new key. */
export const makeNewKeys = Effect.fnUntraced(function*({ cache, keysMax }: NewKeysOptions) {
  const store = yield* AccountStore
  const { afterCommit, atomically } = yield* UnitOfWork.UnitOfWork
  const insert = yield* makeInsert
  const findActive = yield* makeFindActive

  return {
    createKey: Effect.fn("Accounts.createKey")(function*(
      account: AccountId,
      name: string,
      terms: Partial<KeyTerms.KeyTerms> = {},
      budget: Partial<KeyBudget.KeyBudget> = {},
      createdBy: string | null = null,
      budgetAuthor: KeyBudget.BudgetAuthor = "operator"
    ) {
      yield* validName(name)
      const allTerms = { ...KeyTerms.unrestricted, ...terms }
      const problem = KeyTerms.problemOf(allTerms, yield* DateTime.now)
      if (problem !== undefined) return yield* refuse(new AccountsError.KeyTermsInvalid({ problem }))
      const limits = yield* validBudget({ ...KeyBudget.unlimited, ...budget })
      yield* notDeleted(yield* orNotFound(account, yield* store.lockAccount(account)))
      const budgetMax = budgetAuthor === "operator" ? limits : KeyBudget.unlimited
      return yield* insert({ account, name, terms: allTerms, budget: limits, budgetMax, createdBy }, keysMax)
    }, atomically),

    rollKey: Effect.fn("Accounts.rollKey")(function*(
      account: AccountId,
      key: ApiKey.KeyId,
      overlap: Duration.Input,
      createdBy: string | null = null
    ) {
      yield* notDeleted(yield* orNotFound(account, yield* store.lockAccount(account)))
      const former = yield* findActive(account, key)
      const now = yield* DateTime.now
      // An account with `keysMax` keys can roll each of them.
      const rolled = yield* insert({ ...former, createdBy }, 2 * keysMax)
      const until = DateTime.addDuration(now, overlap)
      yield* store.saveExpiry(
        key,
        Option.match(former.terms.expiresAt, { onNone: () => until, onSome: (end) => DateTime.min(end, until) })
      )
      yield* afterCommit(Effect.sync(() => cache.forget(({ keyId }) => keyId === key)))
      return rolled
    }, atomically)
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/**
 * Makes a function that makes a key and inserts its record, unless the account, which is locked, has `activeMax` active
 * keys. Without a `line`, the key begins one.
 */
const makeInsert = Effect.gen(function*() {
  const store = yield* AccountStore
  const random = yield* SecureRandom.SecureRandom

  return Effect.fnUntraced(
    function*(
      named:
        & Pick<ApiKey.ApiKey, "account" | "budget" | "budgetMax" | "createdBy" | "name" | "terms">
        & Partial<Pick<ApiKey.ApiKey, "line">>,
      activeMax: number
    ) {
      const { account } = named
      const createdAt = yield* DateTime.now
      if ((yield* store.countKeys(account, createdAt)) >= activeMax) {
        return yield* refuse(new AccountsError.TooManyKeys({ account, keysMax: activeMax }))
      }
      const key = yield* ApiKey.make
      const id = yield* ApiKey.KeyId.make
      const record: ApiKey.ApiKey = {
        line: id,
        ...named,
        id,
        prefix: ApiKey.prefix(key),
        createdAt,
        lastUsedAt: Option.none(),
        revokedAt: Option.none()
      }
      yield* store.insertKey(record, ApiKey.hash(key))
      if (record.line === id && !KeyBudget.isUnlimited(record.budget)) {
        yield* store.saveBudget(account, id, record)
      }
      return { record, key }
    },
    Effect.provideService(SecureRandom.SecureRandom, random)
  )
})
