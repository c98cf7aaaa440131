/** Stores keys in the memory of the process, for tests and for hosts that keep nothing. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Layer, Option } from "effect"
import type { ApiKey, KeyId } from "./ApiKey.ts"
import { type ActiveKey, ApiKeyStore, type KeyUse } from "./ApiKeyStore.ts"
import { hasExpired } from "./KeyTerms.ts"

/** Provides a store in the surrounding memory backend. */
export const layer: Layer.Layer<ApiKeyStore, never, MemoryBackend> = Layer.effect(
  ApiKeyStore,
  Effect.map(MemoryBackend, (backend) => ApiKeyStore.of(makeStore(backend, makeTable(backend))))
)

/** Keys in memory. The functions run inside `access` of the backend. */
export interface KeyTable {
  /** Returns all keys. */
  readonly all: () => ReadonlyArray<ApiKey>
  readonly find: (key: KeyId) => ApiKey | undefined
  readonly findByHash: (hash: string) => ApiKey | undefined
  readonly insert: (key: ApiKey, hash: string) => void
  /** Replaces a key, if it exists. */
  readonly update: (key: KeyId, change: (key: ApiKey) => ApiKey) => void
  readonly delete: (keys: ReadonlyArray<ApiKey>) => void
}

/** Creates an empty table. */
export const makeTable = ({ makeMap }: Pick<MemoryBackend["Service"], "makeMap">): KeyTable => {
  const keys = makeMap<KeyId, ApiKey>()
  const keysByHash = makeMap<string, KeyId>()
  return {
    all: () => Array.from(keys.values()),
    find: (key) => keys.get(key),
    findByHash: (hash) => {
      const id = keysByHash.get(hash)
      return id === undefined ? undefined : keys.get(id)
    },
    insert: (key, hash) => {
      keys.set(key.id, key)
      keysByHash.set(hash, key.id)
    },
    update: (id, change) => {
      const key = keys.get(id)
      if (key !== undefined) keys.set(id, change(key))
    },
    delete: (deleted) => {
      const ids = new Set(deleted.map(({ id }) => id))
      for (const [hash, id] of Array.from(keysByHash.entries())) {
        if (ids.has(id)) keysByHash.delete(hash)
      }
      ids.forEach((id) => keys.delete(id))
    }
  }
}

/** Creates a store over a table. */
export const makeStore = (
  { access }: Pick<MemoryBackend["Service"], "access">,
  table: KeyTable
): ApiKeyStore["Service"] => {
  const keysOf = (owner: string) => table.all().filter((key) => key.owner === owner)
  const find = (owner: string, id: KeyId) =>
    Option.filter(Option.fromUndefinedOr(table.find(id)), (key) => key.owner === owner)
  return {
    // The memory backend runs one unit at a time, so no lock is needed.
    lockOwner: () => Effect.void,
    countKeys: (owner, at) => access(() => keysOf(owner).filter((key) => !hasEnded(key, at)).length),
    insertKey: (key, hash) => access(() => table.insert(key, hash)),
    listKeys: (owner, at, limit) => access(() => keysOf(owner).toSorted(activeFirst(at)).slice(0, limit)),
    findKey: (owner, id) => access(() => find(owner, id)),
    saveExpiry: (id, expiresAt) =>
      access(() => table.update(id, (key) => ({ ...key, terms: { ...key.terms, expiresAt: Option.some(expiresAt) } }))),
    saveName: (id, name) => access(() => table.update(id, (key) => ({ ...key, name }))),
    revokeKey: (owner, id, at) =>
      access(() => {
        if (Option.isSome(find(owner, id))) table.update(id, revoked(at))
        return find(owner, id)
      }),
    revokeKeys: (owner, at) =>
      access(() => {
        const active = keysOf(owner).filter(({ revokedAt }) => Option.isNone(revokedAt))
        active.forEach(({ id }) => table.update(id, revoked(at)))
        return active.length
      }),
    deleteKeys: (owner) => access(() => deleteAll(table, keysOf(owner))),
    deleteEnded: (before, limit) => access(() => deleteEnded(table, before, limit)),
    findActive: (hashes) => access(() => hashes.flatMap((hash) => activeKey(table, hash))),
    noteUses: (uses) => access(() => uses.forEach((use) => noteUse(table, use)))
  }
}

/** Deletes keys that were revoked or expired before `before`, oldest first, and returns their number. */
export const deleteEnded = (table: KeyTable, before: DateTime.Utc, limit: number): number => {
  const endOf = ({ revokedAt, terms: { expiresAt } }: ApiKey) =>
    Math.min(...[revokedAt, expiresAt].map((end) => Option.isSome(end) ? end.value.epochMilliseconds : Infinity))
  return deleteAll(
    table,
    table.all()
      .filter((key) => endOf(key) < before.epochMilliseconds)
      .toSorted((a, b) => endOf(a) - endOf(b))
      .slice(0, limit)
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const deleteAll = (table: KeyTable, keys: ReadonlyArray<ApiKey>): number => {
  table.delete(keys)
  return keys.length
}

const hasEnded = ({ revokedAt, terms }: ApiKey, at: DateTime.Utc): boolean =>
  Option.isSome(revokedAt) || hasExpired(terms, at)

const activeFirst = (at: DateTime.Utc) => (a: ApiKey, b: ApiKey): number =>
  Number(hasEnded(a, at)) - Number(hasEnded(b, at)) || (a.id < b.id ? 1 : -1)

const revoked = (at: DateTime.Utc) => (key: ApiKey): ApiKey => ({
  ...key,
  revokedAt: Option.orElseSome(key.revokedAt, () => at)
})

const activeKey = ({ findByHash }: KeyTable, hash: string): ReadonlyArray<ActiveKey> => {
  const key = findByHash(hash)
  return key === undefined || Option.isSome(key.revokedAt) ? [] : [{ hash, key }]
}

const noteUse = (table: KeyTable, { at, key: id }: KeyUse): void =>
  table.update(id, (key) => {
    const isRecent = Option.exists(
      key.lastUsedAt,
      (last) => DateTime.isGreaterThan(last, DateTime.subtract(at, { minutes: 1 }))
    )
    return isRecent ? key : { ...key, lastUsedAt: Option.some(at) }
  })
