/** Creating and rolling API keys, and changing their budgets. */
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

/** Options for `makeNewKeys`. */
export interface NewKeysOptions {
  readonly cache: KeyCache
  /** Maximum number of active keys of an account. */
  readonly keysMax: number
}

/** Creates the methods of `Accounts` that return a new key, and `changeBudget`. */
export const makeNewKeys = Effect.fnUntraced(function*({ cache, keysMax }: NewKeysOptions) {
  const store = yield* AccountStore
  const { afterCommit, atomically } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom

  /**
   * Makes a key and inserts its record, unless the account, which is locked, has `activeMax` active keys. Without a
   * `line`, the key begins one.
   */
  const insert = Effect.fnUntraced(
    function*(
      named: Pick<ApiKey.ApiKey, "account" | "budget" | "name" | "terms"> & Partial<Pick<ApiKey.ApiKey, "line">>,
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
        yield* store.saveBudget(account, id, record.budget)
      }
      return { record, key }
    },
    Effect.provideService(SecureRandom.SecureRandom, random)
  )

  /** Locks the account and returns its key, unless the key has ended. */
  const lockKey = Effect.fnUntraced(function*(account: AccountId, key: ApiKey.KeyId) {
    yield* notDeleted(yield* orNotFound(account, yield* store.lockAccount(account)))
    const found = yield* store.findKey(account, key)
    if (Option.isNone(found)) return yield* refuse(new AccountsError.KeyNotFound({ account, key }))
    const { revokedAt, terms } = found.value
    return Option.isSome(revokedAt) || KeyTerms.hasExpired(terms, yield* DateTime.now)
      ? yield* refuse(new AccountsError.KeyEnded({ account, key }))
      : found.value
  })

  return {
    createKey: Effect.fn("Accounts.createKey")(function*(
      account: AccountId,
      name: string,
      terms: Partial<KeyTerms.KeyTerms> = {},
      budget: Partial<KeyBudget.KeyBudget> = {}
    ) {
      if (!ApiKey.isName(name)) {
        return yield* refuse(new AccountsError.KeyNameInvalid({ charsMax: ApiKey.nameCharsMax }))
      }
      const allTerms = { ...KeyTerms.unrestricted, ...terms }
      const problem = KeyTerms.problemOf(allTerms, yield* DateTime.now)
      if (problem !== undefined) return yield* refuse(new AccountsError.KeyTermsInvalid({ problem }))
      const limits = yield* validBudget({ ...KeyBudget.unlimited, ...budget })
      yield* notDeleted(yield* orNotFound(account, yield* store.lockAccount(account)))
      return yield* insert({ account, name, terms: allTerms, budget: limits }, keysMax)
    }, atomically),

    rollKey: Effect.fn("Accounts.rollKey")(function*(account: AccountId, key: ApiKey.KeyId, overlap: Duration.Input) {
      const former = yield* lockKey(account, key)
      const now = yield* DateTime.now
      // An account with `keysMax` keys can roll each of them.
      const rolled = yield* insert(former, 2 * keysMax)
      const until = DateTime.addDuration(now, overlap)
      yield* store.saveExpiry(
        key,
        Option.match(former.terms.expiresAt, { onNone: () => until, onSome: (end) => DateTime.min(end, until) })
      )
      yield* afterCommit(Effect.sync(() => cache.forget(({ keyId }) => keyId === key)))
      return rolled
    }, atomically),

    changeBudget: Effect.fn("Accounts.changeBudget")(function*(
      account: AccountId,
      key: ApiKey.KeyId,
      change: Partial<KeyBudget.KeyBudget>
    ) {
      const record = yield* lockKey(account, key)
      const budget = yield* validBudget({ ...record.budget, ...change })
      yield* store.saveBudget(account, record.line, budget)
      // The other keys of the line have the same budget.
      yield* afterCommit(Effect.sync(() => cache.forget((identity) => identity.account.id === account)))
      return { ...record, budget }
    }, atomically)
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const validBudget = (budget: KeyBudget.KeyBudget) => {
  const problem = KeyBudget.problemOf(budget)
  return problem === undefined
    ? Effect.succeed(budget)
    : Effect.fail(refuse(new AccountsError.KeyBudgetInvalid({ problem })))
}
