import { assert, layer } from "@effect/vitest"
import { StorageError, UnitOfWork } from "@kinora/persistence"
import * as TestTime from "@kinora/testkit/TestTime"
import { DateTime, Deferred, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { ApiKeyStore } from "../src/ApiKeyStore.ts"
import { isKnown, makeHost, makeKey, makeKeys } from "../src/internal/contract/hosts.ts"
import * as Token from "../src/internal/token.ts"
import { makeSpy } from "./Hosts.ts"

const token = Token.define("sk_")

/** The cache of verification, its look-ups and the uses that it records, on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<ApiKeyStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`ApiKeys.verify (${name})`, (it) => {
    it.effect("rejects malformed keys without reading the store", () =>
      Effect.gen(function*() {
        const { host: makeSpied, lookUps } = yield* makeSpy()
        const host = yield* makeSpied()
        for (const text of ["", "sk_", "x".repeat(52), `sk_${"0".repeat(49)}`]) {
          assert.isFalse(yield* isKnown(host, Redacted.make(text)))
        }
        assert.deepStrictEqual(lookUps, [])
      }))

    it.effect("reads the store once for a key that is used often, known or unknown", () =>
      Effect.gen(function*() {
        const { host: makeSpied, lookUps } = yield* makeSpy()
        const host = yield* makeSpied()
        const { key } = yield* makeKey(host)
        const unknown = yield* token.make
        for (let use = 0; use < 100; use++) {
          assert.isTrue(yield* isKnown(host, key))
          assert.isFalse(yield* isKnown(host, unknown))
        }
        assert.deepStrictEqual(lookUps, [[token.hash(key)], [token.hash(unknown)]])
        yield* TestClock.adjust("5 seconds")
        yield* isKnown(host, unknown)
        assert.strictEqual(lookUps.length, 3)
      }))

    it.effect("reads concurrent keys in one statement, each key once", () =>
      Effect.gen(function*() {
        const asked = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const store = yield* ApiKeyStore
        const { host: makeSpied, lookUps } = yield* makeSpy({
          findActive: (hashes) =>
            Deferred.succeed(asked, undefined).pipe(
              Effect.andThen(Deferred.await(gate)),
              Effect.andThen(store.findActive(hashes))
            )
        })
        const host = yield* makeSpied()
        const keys = yield* makeKeys(host, 21)
        const busy = yield* Effect.forEach(
          keys.slice(0, 2),
          ({ key }) => Effect.forkChild(host.verify(key), { startImmediately: true })
        )
        yield* Deferred.await(asked)
        const waiting = yield* Effect.forEach(
          [...keys, ...keys],
          ({ key }) => Effect.forkChild(host.verify(key), { startImmediately: true })
        )
        yield* Deferred.succeed(gate, undefined)
        yield* Effect.forEach(busy, Fiber.join)
        const records = yield* Effect.forEach(waiting, Fiber.join)
        assert.deepStrictEqual(
          records.map((record) => Option.getOrThrow(record).owner),
          [...keys, ...keys].map(({ owner }) => owner)
        )
        assert.isAtMost(lookUps.length, 3)
        assert.strictEqual(lookUps.at(-1)?.length, new Set(lookUps.at(-1)).size)
        assert.isAtLeast(lookUps.at(-1)?.length ?? 0, 19)
      }))

    it.effect("caches a limited number of keys, and invented keys evict no real ones", () =>
      Effect.gen(function*() {
        const { host: makeSpied, lookUps } = yield* makeSpy()
        const host = yield* makeSpied({ keysCachedMax: 2 })
        const [first, second, third] = yield* makeKeys(host, 3)
        yield* isKnown(host, second!.key)
        yield* isKnown(host, third!.key)
        for (let attempt = 0; attempt < 5; attempt++) yield* isKnown(host, yield* token.make)
        lookUps.length = 0
        assert.isTrue(yield* isKnown(host, second!.key))
        assert.isTrue(yield* isKnown(host, third!.key))
        assert.deepStrictEqual(lookUps, [])
        yield* isKnown(host, first!.key)
        yield* isKnown(host, second!.key)
        assert.deepStrictEqual(lookUps, [[token.hash(first!.key)], [token.hash(second!.key)]])
      }))

    it.effect("does not cache a key that is revoked during its look-up", () =>
      Effect.gen(function*() {
        const { gate, makeSpied, read } = yield* makeGatedLookUp
        const host = yield* makeSpied()
        const { key, owner, record } = yield* makeKey(host)
        const early = yield* Effect.forkChild(host.verify(key))
        yield* Deferred.await(read)
        yield* host.revoke(owner, record.id)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(early)
        assert.isFalse(yield* isKnown(host, key))
      }))

    it.effect("counts the age of a cached key from before it was read", () =>
      Effect.gen(function*() {
        const { gate, makeSpied, read } = yield* makeGatedLookUp
        const [here, slow] = [yield* makeHost(), yield* makeSpied()]
        const { key, owner, record } = yield* makeKey(here)
        const early = yield* Effect.forkChild(slow.verify(key))
        yield* Deferred.await(read)
        yield* here.revoke(owner, record.id)
        yield* TestClock.adjust("5 seconds")
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(early)
        assert.isFalse(yield* isKnown(slow, key))
      }))

    it.effect("fails, and caches nothing, when the store fails", () =>
      Effect.gen(function*() {
        const store = yield* ApiKeyStore
        let isDown = true
        const { host: makeSpied } = yield* makeSpy({
          findActive: (hashes) =>
            isDown
              ? Effect.fail(new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" }))
              : store.findActive(hashes)
        })
        const host = yield* makeSpied()
        const { key } = yield* makeKey(host)
        assert.instanceOf(yield* Effect.flip(host.verify(key)), StorageError.StorageError)
        isDown = false
        assert.isTrue(yield* isKnown(host, key))
      }))

    it.effect("records uses once a minute in the background, many keys in one statement", () =>
      Effect.gen(function*() {
        const { host: makeSpied, writes, written } = yield* makeSpy()
        const host = yield* makeSpied()
        const keys = yield* makeKeys(host, 5)
        const usedAt = yield* DateTime.now
        const useAll = Effect.forEach(keys, ({ key }) => isKnown(host, key), { discard: true })
        for (let second = 0; second < 60; second++) {
          yield* useAll
          yield* TestTime.advance("1 second")
        }
        yield* written
        assert.deepStrictEqual(writes, [keys.map(({ record }) => record.id)])
        for (const { owner } of keys) {
          assert.deepStrictEqual((yield* host.list(owner))[0]?.lastUsedAt, Option.some(usedAt))
        }
        yield* useAll
        yield* TestTime.advance("10 seconds")
        yield* written
        assert.strictEqual(writes.length, 2)
      }))

    it.effect("continues when uses cannot be recorded, and records the next use", () =>
      Effect.gen(function*() {
        let isBroken = true
        const { host: makeSpied, writes, written } = yield* makeSpy({
          noteUses: () => isBroken ? Effect.die("the store is broken") : Effect.void
        })
        const host = yield* makeSpied()
        const { key } = yield* makeKey(host)
        yield* isKnown(host, key)
        yield* TestTime.advance("10 seconds")
        yield* written
        isBroken = false
        assert.isTrue(yield* isKnown(host, key))
        yield* TestTime.advance("10 seconds")
        yield* written
        assert.strictEqual(writes.length, 2)
      }))

    it.effect("accepts keys with its own prefix only", () =>
      Effect.gen(function*() {
        const [acme, other] = [yield* makeHost({ prefix: "acme_" }), yield* makeHost({ prefix: "other_" })]
        const { key, record } = yield* makeKey(acme)
        assert.match(Redacted.value(key), /^acme_[0-9A-Za-z]{49}$/)
        assert.strictEqual(record.prefix, Redacted.value(key).slice(0, 13))
        assert.isTrue(yield* isKnown(acme, key))
        assert.isFalse(yield* isKnown(other, key))
      }))

    it.effect("keeps the cache when the unit that revoked a key rolls back", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const { host: makeSpied, lookUps } = yield* makeSpy()
        const host = yield* makeSpied()
        const { key, owner, record } = yield* makeKey(host)
        assert.isTrue(yield* isKnown(host, key))
        yield* Effect.flip(atomically(Effect.andThen(host.revoke(owner, record.id), Effect.fail("no"))))
        assert.isTrue(yield* isKnown(host, key))
        assert.strictEqual(lookUps.length, 1)
      }))
  })

/** Hosts whose look-ups complete `read` when they have read a key, and return after `gate`. */
const makeGatedLookUp = Effect.gen(function*() {
  const read = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const store = yield* ApiKeyStore
  const { host: makeSpied } = yield* makeSpy({
    findActive: (hashes) =>
      store.findActive(hashes).pipe(
        Effect.tap(() => Deferred.succeed(read, undefined)),
        Effect.tap(() => Deferred.await(gate))
      )
  })
  return { gate, makeSpied, read }
})
