/** Creating, listing and revoking API keys. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import * as ApiKey from "../ApiKey.ts"
import { type AccountChanges, orNotFound, refuse } from "./accountChanges.ts"
import type { KeyCache } from "./keyCache.ts"

/** Options for `makeKeys`. */
export interface KeysOptions {
  readonly accounts: AccountChanges
  readonly cache: KeyCache
  /** Maximum number of active keys of an account. */
  readonly keysMax: number
}

/** Creates the methods of `Accounts` for keys. */
export const makeKeys = Effect.fnUntraced(function*({ accounts, cache, keysMax }: KeysOptions) {
  const store = yield* AccountStore
  const { afterCommit, atomically } = yield* UnitOfWork.UnitOfWork
  const random = yield* SecureRandom.SecureRandom

  const insert = Effect.fnUntraced(function*(record: ApiKey.ApiKey, hash: string) {
    yield* orNotFound(record.account, yield* store.lockAccount(record.account))
    if ((yield* store.countKeys(record.account)) >= keysMax) {
      return yield* refuse(new AccountsError.TooManyKeys({ account: record.account, keysMax }))
    }
    yield* store.insertKey(record, hash)
  }, atomically)

  return {
    createKey: Effect.fn("Accounts.createKey")(function*(account: AccountId, name: string) {
      if (!ApiKey.isName(name)) {
        return yield* refuse(new AccountsError.KeyNameInvalid({ charsMax: ApiKey.nameCharsMax }))
      }
      const key = yield* ApiKey.make
      const record: ApiKey.ApiKey = {
        id: yield* ApiKey.KeyId.make,
        account,
        name,
        prefix: ApiKey.prefix(key),
        createdAt: yield* DateTime.now,
        lastUsedAt: Option.none(),
        revokedAt: Option.none()
      }
      yield* insert(record, ApiKey.hash(key))
      return { record, key }
    }, Effect.provideService(SecureRandom.SecureRandom, random)),

    listKeys: Effect.fn("Accounts.listKeys")(function*(account: AccountId) {
      yield* accounts.get(account)
      return yield* store.listKeys(account, 2 * keysMax)
    }),

    revokeKey: Effect.fn("Accounts.revokeKey")(function*(account: AccountId, key: ApiKey.KeyId) {
      const record = yield* store.revokeKey(account, key, yield* DateTime.now)
      if (Option.isNone(record)) return yield* refuse(new AccountsError.KeyNotFound({ account, key }))
      yield* afterCommit(Effect.sync(() => cache.forget(({ keyId }) => keyId === key)))
      return record.value
    }, atomically),

    deleteRevokedKeys: Effect.fn("Accounts.deleteRevokedKeys")(function*(age: Duration.Input, limit: number) {
      return yield* store.deleteRevokedKeys(DateTime.subtractDuration(yield* DateTime.now, age), limit)
    })
  }
})
