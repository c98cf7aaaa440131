/** The contract that others run on their stores fails for stores with a fault. */
import { assert, it } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, Exit, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import type { ApiKey } from "../src/ApiKey.ts"
import { ApiKeyStore } from "../src/ApiKeyStore.ts"
import { parts, services } from "../src/internal/contract/contract.ts"
import type { Register } from "../src/internal/contract/tests.ts"
import * as MemoryApiKeyStore from "../src/MemoryApiKeyStore.ts"
import * as ConcurrentUnits from "./ConcurrentUnits.ts"

type Store = ApiKeyStore["Service"]

/** Returns the names of the tests that fail for a store. */
const failuresOver = Effect.fnUntraced(function*(store: Layer.Layer<ApiKeyStore | UnitOfWork.UnitOfWork>) {
  const failures: Array<string> = []
  for (const registers of Object.values(parts)) {
    const tests: Array<Effect.Effect<void>> = []
    const test: Register = (name, body) => {
      const run = Effect.exit(Effect.scoped(Effect.provide(Effect.suspend(body), services(store))))
      tests.push(Effect.map(run, (exit) => {
        if (Exit.isFailure(exit)) failures.push(name)
      }))
    }
    for (const register of registers) register(test)
    // Each test has a store and a time of its own.
    for (const run of tests) yield* Effect.provide(run, TestClock.layer())
  }
  return failures
})

/** Returns the names of the tests that fail for a store in memory with a fault. */
const failuresOf = (fault: (store: Store) => Partial<Store>) =>
  failuresOver(
    Layer.effect(ApiKeyStore, Effect.map(ApiKeyStore, (store) => ({ ...store, ...fault(store) }))).pipe(
      Layer.provide(MemoryApiKeyStore.layer),
      Layer.provideMerge(UnitOfWork.layerMemory)
    )
  )

it.effect("passes for the store in memory", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* failuresOf(() => ({})), [])
  }))

/** A store that stores other texts than the owner. */
const withOwners = (stored: (owner: string) => string) => (store: Store): Partial<Store> => ({
  countKeys: (owner, at) => store.countKeys(stored(owner), at),
  insertKey: (key, hash) => store.insertKey({ ...key, owner: stored(key.owner) }, hash),
  listKeys: (owner, at, limit) =>
    Effect.map(store.listKeys(stored(owner), at, limit), (keys) => keys.map((key) => ({ ...key, owner }))),
  findKey: (owner, id) => Effect.map(store.findKey(stored(owner), id), Option.map((key) => ({ ...key, owner }))),
  deleteKeys: (owner) => store.deleteKeys(stored(owner))
})

/** A store with the owners of all keys. */
const withOwnerOf = (fault: (store: Store, ownerOf: (id: string) => string) => Partial<Store>) => (store: Store) => {
  const owners = new Map<string, string>()
  return {
    insertKey: (key: ApiKey, hash: string) => {
      owners.set(key.id, key.owner)
      return store.insertKey(key, hash)
    },
    ...fault(store, (id) => owners.get(id) ?? "")
  }
}

/** A store that inserts something else than the key. */
const withInserted = (change: (key: ApiKey) => ApiKey) => ({ insertKey }: Store): Partial<Store> => ({
  insertKey: (key, hash) => insertKey(change(key), hash)
})

/** Faults, and a test that notices each. */
const faults: ReadonlyArray<readonly [fault: string, (store: Store) => Partial<Store>, test: string]> = [
  [
    "finds revoked keys",
    (store) => {
      const inserted = new Map<string, ApiKey>()
      return {
        insertKey: (key, hash) => {
          inserted.set(hash, key)
          return store.insertKey(key, hash)
        },
        findActive: (hashes) =>
          Effect.succeed(hashes.flatMap((hash) => {
            const key = inserted.get(hash)
            return key === undefined ? [] : [{ hash, key }]
          }))
      }
    },
    "revokes immediately on this host, and within 5 seconds on another"
  ],
  [
    "stores no expiry",
    withInserted((key) => ({ ...key, terms: { ...key.terms, expiresAt: Option.none() } })),
    "rejects a cached key at the millisecond of its expiry"
  ],
  [
    "stores no networks",
    withInserted((key) => ({ ...key, terms: { ...key.terms, networks: Option.none() } })),
    "rejects a key that is restricted to networks from other and unknown addresses"
  ],
  [
    "stores the beginning of names",
    withInserted((key) => ({ ...key, name: key.name.slice(0, 64) })),
    "stores texts, terms and metadata of the maximum size"
  ],
  [
    "begins a line with every key",
    withInserted((key) => ({ ...key, line: key.id })),
    "rolls a key: the new one has its name, terms, metadata and line, the former one expires after the overlap"
  ],
  [
    "stores times in seconds",
    withInserted((key) => ({
      ...key,
      terms: {
        ...key.terms,
        expiresAt: Option.map(key.terms.expiresAt, (at) => DateTime.startOf(at, "second"))
      }
    })),
    "stores texts, terms and metadata of the maximum size"
  ],
  [
    "finds keys of other owners",
    withOwnerOf(({ findKey }, ownerOf) => ({ findKey: (_, id) => findKey(ownerOf(id), id) })),
    "finds keys of their own owner only"
  ],
  [
    "revokes keys of other owners",
    withOwnerOf(({ revokeKey }, ownerOf) => ({ revokeKey: (_, id, at) => revokeKey(ownerOf(id), id, at) })),
    "finds keys of their own owner only"
  ],
  [
    "returns expired keys without revoking them",
    ({ findKey, revokeKey }) => ({
      revokeKey: (owner, id, at) =>
        Effect.flatMap(findKey(owner, id), (found) => {
          const isExpired = Option.exists(
            Option.flatMap(found, ({ terms }) => terms.expiresAt),
            (expiresAt) => DateTime.isLessThanOrEqualTo(expiresAt, at)
          )
          return isExpired ? Effect.succeed(found) : revokeKey(owner, id, at)
        })
    }),
    "revokes a key that has expired"
  ],
  [
    "renames all keys of a line",
    (store) => {
      const lines = new Map<string, ApiKey["line"]>()
      return {
        insertKey: (key, hash) => {
          lines.set(key.id, key.line)
          return store.insertKey(key, hash)
        },
        saveName: (id, name) =>
          Effect.forEach(
            lines,
            ([other, line]) => line === lines.get(id) ? store.saveName(other as typeof id, name) : Effect.void,
            { discard: true }
          )
      }
    },
    "renames a key, which its verification shows at once, and none that has ended"
  ],
  [
    "deletes no key that was revoked later than it expired",
    ({ deleteEnded, revokeKeys }) => {
      let revokedAt: DateTime.Utc | undefined
      return {
        revokeKeys: (owner, at) => {
          revokedAt = at
          return revokeKeys(owner, at)
        },
        deleteEnded: (before, limit) =>
          revokedAt !== undefined && DateTime.isLessThanOrEqualTo(before, revokedAt)
            ? Effect.succeed(0)
            : deleteEnded(before, limit)
      }
    },
    "deletes keys that expired long ago, also if they were revoked later"
  ],
  [
    "compares owners without their case",
    withOwners((owner) => owner.toLowerCase()),
    "does not match owners that differ in case, accents, spaces, or at the end only"
  ],
  [
    "stores the beginning of owners",
    withOwners((owner) => owner.slice(0, 254)),
    "does not match owners that differ in case, accents, spaces, or at the end only"
  ],
  [
    "counts expired keys",
    ({ countKeys }) => ({ countKeys: (owner) => countKeys(owner, DateTime.makeUnsafe(0)) }),
    "does not count expired keys, and rolls keys of an owner that has the maximum number of keys"
  ],
  ["counts no keys", () => ({ countKeys: () => Effect.succeed(0) }), "never exceeds keysMax with concurrent calls"],
  [
    "lists expired keys among active ones",
    ({ listKeys }) => ({ listKeys: (owner, _, limit) => listKeys(owner, DateTime.makeUnsafe(0), limit) }),
    "lists every active key, however many have expired since it was created"
  ],
  [
    "lists oldest keys first",
    ({ listKeys }) => ({
      listKeys: (owner, at, limit) => Effect.map(listKeys(owner, at, limit), (keys) => keys.toReversed())
    }),
    "lists active keys before revoked ones, newest first"
  ],
  [
    "lists any number of keys",
    ({ listKeys }) => ({ listKeys: (owner, at) => listKeys(owner, at, 1_000) }),
    "lists every active key, however many have expired since it was created"
  ],
  [
    "revokes a key again",
    ({ findKey, revokeKey }) => ({
      revokeKey: (owner, id, at) =>
        Effect.andThen(
          revokeKey(owner, id, at),
          Effect.map(findKey(owner, id), Option.map((key) => ({ ...key, revokedAt: Option.some(at) })))
        )
    }),
    "revokes a key once"
  ],
  [
    "does not revoke keys that have expired",
    ({ listKeys, revokeKey }) => ({
      revokeKeys: (owner, at) =>
        Effect.gen(function*() {
          const active = (yield* listKeys(owner, at, 1_000)).filter(({ revokedAt, terms: { expiresAt } }) =>
            Option.isNone(revokedAt) && !Option.exists(expiresAt, DateTime.isLessThanOrEqualTo(at))
          )
          for (const { id } of active) yield* revokeKey(owner, id, at)
          return active.length
        })
    }),
    "revokes all keys of an owner that are not revoked, expired ones included"
  ],
  [
    "keeps the expiry of a key that is rolled",
    () => ({ saveExpiry: () => Effect.void }),
    "rolls a key without an overlap once, also with concurrent calls of several hosts"
  ],
  [
    "ends rolled keys a second late",
    ({ saveExpiry }) => ({ saveExpiry: (id, at) => saveExpiry(id, DateTime.add(at, { seconds: 1 })) }),
    "rolls a key: the new one has its name, terms, metadata and line, the former one expires after the overlap"
  ],
  [
    "renames nothing",
    () => ({ saveName: () => Effect.void }),
    "renames a key, which its verification shows at once, and none that has ended"
  ],
  [
    "finds one hash",
    ({ findActive }) => ({ findActive: (hashes) => findActive(hashes.slice(0, 1)) }),
    "returns the active keys of many hashes, each once, and neither revoked nor unknown ones"
  ],
  [
    "finds no expired keys",
    ({ findActive }) => ({
      findActive: (hashes) =>
        Effect.gen(function*() {
          const now = yield* DateTime.now
          return (yield* findActive(hashes)).filter(({ key: { terms: { expiresAt } } }) =>
            !Option.exists(expiresAt, DateTime.isLessThanOrEqualTo(now))
          )
        })
    }),
    "returns the active keys of many hashes, each once, and neither revoked nor unknown ones"
  ],
  [
    "records no uses",
    () => ({ noteUses: () => Effect.void }),
    "records the collected uses when the host stops"
  ],
  [
    "records every use",
    ({ noteUses }) => ({
      noteUses: (uses) =>
        Effect.andThen(
          noteUses(uses.map(({ at, key }) => ({ key, at: DateTime.add(at, { minutes: 1 }) }))),
          noteUses(uses)
        )
    }),
    "records a use once a minute over all hosts"
  ],
  [
    "records all uses at the time of the first",
    ({ noteUses }) => ({ noteUses: (uses) => noteUses(uses.map((use) => ({ ...use, at: uses[0]!.at }))) }),
    "records the use of each of many keys at its own time, and ignores keys that do not exist"
  ],
  [
    "keeps the keys of an owner that is forgotten",
    ({ revokeKeys }) => ({
      deleteKeys: (owner) => Effect.flatMap(DateTime.now, (at) => revokeKeys(owner, at))
    }),
    "erases the keys of an owner, and those of no other one"
  ],
  [
    "deletes no ended keys",
    () => ({ deleteEnded: () => Effect.succeed(0) }),
    "deletes keys that were revoked or expired long ago, and rejects them as before"
  ],
  [
    "deletes ended keys early",
    ({ deleteEnded }) => ({
      deleteEnded: (before, limit) => deleteEnded(DateTime.add(before, { milliseconds: 1 }), limit)
    }),
    "deletes keys that were revoked or expired long ago, and rejects them as before"
  ],
  [
    "deletes any number of ended keys",
    ({ deleteEnded }) => ({ deleteEnded: (before) => deleteEnded(before, 1_000) }),
    "deletes up to the limit of ended keys, those that ended first before the others"
  ]
]

for (const [fault, change, test] of faults) {
  it.effect(`fails for a store that ${fault}`, () =>
    Effect.gen(function*() {
      assert.include(yield* failuresOf(change), test)
    }))
}

it.effect("fails for a store that takes no part in units of work", () =>
  Effect.gen(function*() {
    const memory = MemoryApiKeyStore.layer.pipe(Layer.provide(UnitOfWork.layerMemory))
    const apart = yield* Effect.provide(ApiKeyStore, memory)
    const failures = yield* failuresOf(() => apart)
    assert.includeMembers(failures, [
      "creates nothing in a unit that rolls back",
      "does not cache what was read in a unit that rolls back",
      "undoes a rolled key in a unit that rolls back",
      "undoes a new name in a unit that rolls back",
      "undoes a revocation in a unit that rolls back",
      "undoes the revocation of all keys in a unit that rolls back",
      "undoes the erasure of an owner in a unit that rolls back",
      "undoes the deletion of an ended key in a unit that rolls back",
      "undoes a recorded use in a unit that rolls back"
    ])
  }))

const races = [
  "never exceeds keysMax with concurrent calls",
  "rolls a key without an overlap once, also with concurrent calls of several hosts",
  "leaves no active key when all are revoked while others roll and create"
]

it.effect("fails for a store that does not lock owners, whose units run at the same time", () =>
  Effect.gen(function*() {
    const failures = yield* failuresOver(ConcurrentUnits.layer({ locks: false }))
    assert.includeMembers(failures, races)
    const locked = yield* failuresOver(ConcurrentUnits.layer({ locks: true }))
    assert.deepStrictEqual(locked.filter((name) => races.includes(name)), [])
  }))
