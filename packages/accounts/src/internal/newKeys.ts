/** Creating and rolling API keys. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import * as ApiKey from "../ApiKey.ts"
import * as KeyTerms from "../KeyTerms.ts"
import { notDeleted, orNotFound, refuse } from "./accountChanges.ts"
import type { KeyCache } from "./keyCache.ts"

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
  const random = yield* SecureRandom.SecureRandom

  /** Makes a key and inserts its record, unless the account, which is locked, has `activeMax` active keys. */
  const insert = Effect.fnUntraced(
    function*(named: Pick<ApiKey.ApiKey, "account" | "name" | "terms">, activeMax: number) {
      const { account } = named
      const createdAt = yield* DateTime.now
      if ((yield* store.countKeys(account, createdAt)) >= activeMax) {
        return yield* refuse(new AccountsError.TooManyKeys({ account, keysMax: activeMax }))
      }
      const key = yield* ApiKey.make
      const record: ApiKey.ApiKey = {
        ...named,
        id: yield* ApiKey.KeyId.make,
        prefix: ApiKey.prefix(key),
        createdAt,
        lastUsedAt: Option.none(),
        revokedAt: Option.none()
      }
      yield* store.insertKey(record, ApiKey.hash(key))
      return { record, key }
    },
    Effect.provideService(SecureRandom.SecureRandom, random)
  )

  return {
    createKey: Effect.fn("Accounts.createKey")(function*(
      account: AccountId,
      name: string,
      terms: Partial<KeyTerms.KeyTerms> = {}
    ) {
      if (!ApiKey.isName(name)) {
        return yield* refuse(new AccountsError.KeyNameInvalid({ charsMax: ApiKey.nameCharsMax }))
      }
      const allTerms = { ...KeyTerms.unrestricted, ...terms }
      const problem = KeyTerms.problemOf(allTerms, yield* DateTime.now)
      if (problem !== undefined) return yield* refuse(new AccountsError.KeyTermsInvalid({ problem }))
      yield* notDeleted(yield* orNotFound(account, yield* store.lockAccount(account)))
      return yield* insert({ account, name, terms: allTerms }, keysMax)
    }, atomically),

    rollKey: Effect.fn("Accounts.rollKey")(function*(account: AccountId, key: ApiKey.KeyId, overlap: Duration.Input) {
      yield* notDeleted(yield* orNotFound(account, yield* store.lockAccount(account)))
      const found = yield* store.findKey(account, key)
      if (Option.isNone(found)) return yield* refuse(new AccountsError.KeyNotFound({ account, key }))
      const former = found.value
      const now = yield* DateTime.now
      if (Option.isSome(former.revokedAt) || KeyTerms.hasExpired(former.terms, now)) {
        return yield* refuse(new AccountsError.KeyEnded({ account, key }))
      }
      // An account with `keysMax` keys can roll each of them.
      const rolled = yield* insert(former, 2 * keysMax)
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
