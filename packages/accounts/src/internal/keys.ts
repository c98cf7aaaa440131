/** Creating, rolling, changing, listing and revoking API keys. */
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Option } from "effect"
import type { AccountId } from "../Account.ts"
import * as AccountsError from "../AccountsError.ts"
import { AccountStore } from "../AccountStore.ts"
import type * as ApiKey from "../ApiKey.ts"
import { type AccountChanges, refuse } from "./accountChanges.ts"
import type { KeyCache } from "./keyCache.ts"
import { makeKeyChanges } from "./keyChanges.ts"
import { makeNewKeys } from "./newKeys.ts"

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

  return {
    ...(yield* makeNewKeys({ cache, keysMax })),
    ...(yield* makeKeyChanges(accounts)),

    listKeys: Effect.fn("Accounts.listKeys")(function*(account: AccountId) {
      yield* accounts.get(account)
      return yield* store.listKeys(account, 2 * keysMax)
    }),

    getKey: Effect.fn("Accounts.getKey")(function*(account: AccountId, key: ApiKey.KeyId) {
      const record = yield* store.findKey(account, key)
      return Option.isSome(record) ? record.value : yield* refuse(new AccountsError.KeyNotFound({ account, key }))
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
