/**
 * Creates, rolls, renames, lists and revokes keys.
 *
 * It is the part of `ApiKeys` without `verify`, for packages with a `Verification` of their own.
 */
import * as Pipelining from "@kinora/persistence/Pipelining"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, type Duration, Effect, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import type * as ApiKey from "./ApiKey.ts"
import { type ApiKeysError, KeyNotFound } from "./ApiKeysError.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import { makeFindActive, refuse, validName, validOwner } from "./internal/checks.ts"
import { makeNewKeys } from "./internal/newKeys.ts"
import type { Changed, KeyOptions, RollOptions } from "./KeyCommand.ts"

/** The failures of the service: a rejected command, or the storage. */
export type Failure = ApiKeysError | StorageError

/** Options for `make`. */
export interface KeysOptions {
  /** The text that all keys begin with: 1 to 32 letters, digits, `_` and `-`. */
  readonly prefix: string
  /** Maximum number of active keys of an owner. Default 100. */
  readonly keysMax?: number | undefined
  /** Maximum length of the JSON of metadata, in UTF-16 code units. Default 4,096. */
  readonly metadataCharsMax?: number | undefined
  /** Removes the keys from caches when the open unit commits. */
  readonly evict: (changed: Changed) => Effect.Effect<void>
}

/** Creates, rolls, renames, lists and revokes keys. A key of another owner is not found. */
export interface Keys {
  /** Creates a key and returns it this once. An owner has at most `keysMax` active keys. */
  readonly create: (key: KeyOptions) => Effect.Effect<ApiKey.NewKey, Failure>

  /**
   * Creates a key with the name, the terms and the metadata of another one, and returns it this once. The former key expires
   * after `overlap`, or at its own expiry if that is earlier. Both have the same `line`. An owner with `keysMax` keys can roll
   * each of them.
   */
  readonly roll: (roll: RollOptions) => Effect.Effect<ApiKey.NewKey, Failure>

  /** Renames a key, and returns its record. */
  readonly rename: (owner: string, id: ApiKey.KeyId, name: string) => Effect.Effect<ApiKey.ApiKey, Failure>

  /** Returns the records of active keys, then of revoked and expired ones, newest first, at most twice `keysMax`. */
  readonly list: (owner: string) => Effect.Effect<ReadonlyArray<ApiKey.ApiKey>, Failure>

  /** Returns the record of a key, also of a revoked or expired one. */
  readonly get: (owner: string, id: ApiKey.KeyId) => Effect.Effect<ApiKey.ApiKey, Failure>

  /** Revokes a key: immediately on this host, within `revocationWithin` on others. Idempotent. */
  readonly revoke: (owner: string, id: ApiKey.KeyId) => Effect.Effect<ApiKey.ApiKey, Failure>

  /** Revokes all keys of an owner, like `revoke`. Returns the number of those that were not revoked. */
  readonly revokeAll: (owner: string) => Effect.Effect<number, Failure>

  /** Deletes all keys of an owner with their records, for example because a person asks for it. Returns their number. */
  readonly forget: (owner: string) => Effect.Effect<number, Failure>

  /**
   * Deletes up to `limit` keys that were revoked or expired longer than `age` ago and returns their
   * number. A deleted key is rejected like a revoked one. `layerSweep` calls it at an interval.
   */
  readonly deleteEnded: (age: Duration.Input, limit: number) => Effect.Effect<number, StorageError>
}

/** Creates the methods over the surrounding store. Dies if the prefix is invalid. */
export const make = Effect.fnUntraced(function*(
  { evict, keysMax = 100, metadataCharsMax = 4_096, prefix }: KeysOptions
): Effect.fn.Return<Keys, never, ApiKeyStore | SecureRandom.SecureRandom | UnitOfWork> {
  const store = yield* ApiKeyStore
  const { atomically } = yield* UnitOfWork
  const findActive = makeFindActive(store)

  /** Runs a change of all keys of an owner. */
  const changeAll = Effect.fnUntraced(function*(owner: string, change: Effect.Effect<number, StorageError>) {
    yield* validOwner(owner)
    yield* store.lockOwner(owner)
    const count = yield* change
    yield* evict({ owner })
    return count
  }, atomically)

  return {
    ...(yield* makeNewKeys({ evict, keysMax, metadataCharsMax, prefix })),

    rename: Effect.fn("ApiKeys.rename")(function*(owner: string, id: ApiKey.KeyId, name: string) {
      yield* validOwner(owner)
      yield* validName(name)
      const [, record] = yield* Pipelining.both(store.lockOwner(owner), findActive(owner, id))
      yield* Pipelining.atCommit(store.saveName(id, name))
      yield* evict({ id })
      return { ...record, name }
    }, atomically),

    list: Effect.fn("ApiKeys.list")(function*(owner: string) {
      yield* validOwner(owner)
      return yield* store.listKeys(owner, yield* DateTime.now, 2 * keysMax)
    }),

    get: Effect.fn("ApiKeys.get")(function*(owner: string, id: ApiKey.KeyId) {
      yield* validOwner(owner)
      const record = yield* store.findKey(owner, id)
      return Option.isSome(record) ? record.value : yield* refuse(new KeyNotFound({ owner, id }))
    }),

    revoke: Effect.fn("ApiKeys.revoke")(function*(owner: string, id: ApiKey.KeyId) {
      yield* validOwner(owner)
      const record = yield* store.revokeKey(owner, id, yield* DateTime.now)
      if (Option.isNone(record)) return yield* refuse(new KeyNotFound({ owner, id }))
      yield* evict({ id })
      return record.value
    }, atomically),

    revokeAll: Effect.fn("ApiKeys.revokeAll")(function*(owner: string) {
      return yield* changeAll(owner, store.revokeKeys(owner, yield* DateTime.now))
    }),

    forget: Effect.fn("ApiKeys.forget")((owner: string) => changeAll(owner, store.deleteKeys(owner))),

    deleteEnded: Effect.fn("ApiKeys.deleteEnded")(function*(age: Duration.Input, limit: number) {
      return yield* store.deleteEnded(DateTime.subtractDuration(yield* DateTime.now, age), limit)
    })
  }
})
