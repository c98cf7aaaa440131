/** The port of key storage. `Keys` decides; a store loads and writes. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ApiKey, KeyId } from "./ApiKey.ts"

/** A key that is not revoked. It may have expired. */
export interface ActiveKey {
  readonly hash: string
  readonly key: ApiKey
}

/** A use of a key. */
export interface KeyUse {
  readonly key: KeyId
  readonly at: DateTime.Utc
}

/** Stores keys. */
export class ApiKeyStore extends Context.Service<ApiKeyStore, {
  /**
   * Locks the keys of an owner until the unit ends: against others that create, roll, rename or revoke all of them. Fails with
   * a conflict in a transaction that does not see what one of these has committed.
   */
  readonly lockOwner: (owner: string) => Effect.Effect<void, StorageError>

  /** Returns the number of keys of a locked owner that are not revoked and have not expired at `at`. */
  readonly countKeys: (owner: string, at: DateTime.Utc) => Effect.Effect<number, StorageError>

  /** Inserts a key of a locked owner. Times have milliseconds, and are of the years 1970 to 9999. */
  readonly insertKey: (key: ApiKey, hash: string) => Effect.Effect<void, StorageError>

  /** Returns keys that are active at `at` before those that have ended, newest first, at most `limit`. */
  readonly listKeys: (
    owner: string,
    at: DateTime.Utc,
    limit: number
  ) => Effect.Effect<ReadonlyArray<ApiKey>, StorageError>

  /** Returns a key of this owner. Owners are compared exactly, by their code units. */
  readonly findKey: (owner: string, key: KeyId) => Effect.Effect<Option.Option<ApiKey>, StorageError>

  /** Sets when a key of a locked owner expires. */
  readonly saveExpiry: (key: KeyId, expiresAt: DateTime.Utc) => Effect.Effect<void, StorageError>

  /** Sets the name of a key of a locked owner. */
  readonly saveName: (key: KeyId, name: string) => Effect.Effect<void, StorageError>

  /** Revokes a key unless it is revoked already, and returns its record. Returns `None` if the owner has no such key. */
  readonly revokeKey: (
    owner: string,
    key: KeyId,
    at: DateTime.Utc
  ) => Effect.Effect<Option.Option<ApiKey>, StorageError>

  /** Revokes the keys of a locked owner that are not revoked, and returns their number. */
  readonly revokeKeys: (owner: string, at: DateTime.Utc) => Effect.Effect<number, StorageError>

  /** Deletes the keys of a locked owner and what else is stored of it, and returns the number of keys. */
  readonly deleteKeys: (owner: string) => Effect.Effect<number, StorageError>

  /** Deletes keys that were revoked or expired before `before`, oldest first, and returns their number. Skips locked keys. */
  readonly deleteEnded: (before: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>

  /** Returns the keys with these hashes that are not revoked, in any order, in one statement. */
  readonly findActive: (hashes: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<ActiveKey>, StorageError>

  /**
   * Records the uses in one statement, with each key at most once. Skips a key whose
   * recorded use is less than a minute older, so that many hosts together write once a
   * minute. May skip a key that another unit has locked.
   */
  readonly noteUses: (uses: ReadonlyArray<KeyUse>) => Effect.Effect<void, StorageError>
}>()("@kinora/api-keys/ApiKeyStore") {}
