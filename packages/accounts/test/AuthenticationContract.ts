import { assert, layer } from "@effect/vitest"
import { SecretToken, StorageError, type UnitOfWork } from "@kinora/persistence"
import * as TestTime from "@kinora/testkit/TestTime"
import { DateTime, Deferred, Effect, Exit, Fiber, Layer, Option, Redacted, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { AccountStore } from "../src/AccountStore.ts"
import { isKnown, makeHost, makeKey, makeKeys, makeSpy } from "./Hosts.ts"

const token = SecretToken.define("kin_", "ApiKey")

/** The contract of authentication, for every store: cache, look-ups and recorded uses. */
export const suite = <E>(name: string, backend: Layer.Layer<AccountStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Accounts.authenticate (${name})`, (it) => {
    it.effect("rejects malformed keys without reading the store", () =>
      Effect.gen(function*() {
        const { host: makeSpied, lookUps } = yield* makeSpy()
        const host = yield* makeSpied()
        for (const text of ["", "kin_", "x".repeat(53), `kin_${"0".repeat(49)}`]) {
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
        const store = yield* AccountStore
        const { host: makeSpied, lookUps } = yield* makeSpy({
          findOwners: (hashes) =>
            Deferred.succeed(asked, undefined).pipe(
              Effect.andThen(Deferred.await(gate)),
              Effect.andThen(store.findOwners(hashes))
            )
        })
        const host = yield* makeSpied()
        const keys = yield* makeKeys(host, 21)
        const busy = yield* Effect.forEach(
          keys.slice(0, 2),
          ({ key }) => Effect.forkChild(host.authenticate(key), { startImmediately: true })
        )
        yield* Deferred.await(asked)
        const waiting = yield* Effect.forEach(
          [...keys, ...keys],
          ({ key }) => Effect.forkChild(host.authenticate(key), { startImmediately: true })
        )
        yield* Deferred.succeed(gate, undefined)
        yield* Effect.forEach(busy, Fiber.join)
        const identities = yield* Effect.forEach(waiting, Fiber.join)
        assert.deepStrictEqual(
          identities.map((identity) => Option.getOrThrow(identity).account.id),
          [...keys, ...keys].map(({ account }) => account.id)
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
        const { account, key, record } = yield* makeKey(host)
        const early = yield* Effect.forkChild(host.authenticate(key))
        yield* Deferred.await(read)
        yield* host.revokeKey(account.id, record.id)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(early)
        assert.isFalse(yield* isKnown(host, key))
      }))

    it.effect("counts the age of a cached key from before it was read", () =>
      Effect.gen(function*() {
        const { gate, makeSpied, read } = yield* makeGatedLookUp
        const [here, slow] = [yield* makeHost(), yield* makeSpied()]
        const { account, key, record } = yield* makeKey(here)
        const early = yield* Effect.forkChild(slow.authenticate(key))
        yield* Deferred.await(read)
        yield* here.revokeKey(account.id, record.id)
        yield* TestClock.adjust("5 seconds")
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(early)
        assert.isFalse(yield* isKnown(slow, key))
      }))

    it.effect("fails, and caches nothing, when the store fails", () =>
      Effect.gen(function*() {
        const store = yield* AccountStore
        let isDown = true
        const { host: makeSpied } = yield* makeSpy({
          findOwners: (hashes) =>
            isDown
              ? Effect.fail(new StorageError.StorageError({ operation: "test", reason: "unavailable", cause: "test" }))
              : store.findOwners(hashes)
        })
        const host = yield* makeSpied()
        const { key } = yield* makeKey(host)
        assert.instanceOf(yield* Effect.flip(host.authenticate(key)), StorageError.StorageError)
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
        for (const { account } of keys) {
          assert.deepStrictEqual((yield* host.listKeys(account.id))[0]?.lastUsedAt, Option.some(usedAt))
        }
        yield* useAll
        yield* TestTime.advance("10 seconds")
        yield* written
        assert.strictEqual(writes.length, 2)
      }))

    it.effect("records a use once a minute over all hosts", () =>
      Effect.gen(function*() {
        const store = yield* AccountStore
        const host = yield* makeHost()
        const { account, record } = yield* makeKey(host)
        const start = yield* DateTime.now
        const noteAfter = (seconds: number) =>
          store.noteUses([{ key: record.id, at: DateTime.add(start, { seconds }) }]).pipe(
            Effect.andThen(host.listKeys(account.id)),
            Effect.map((keys) => DateTime.toEpochMillis(Option.getOrThrow(keys[0]!.lastUsedAt)))
          )
        const first = yield* noteAfter(0)
        assert.strictEqual(yield* noteAfter(59), first)
        assert.strictEqual(yield* noteAfter(60), first + 60_000)
        assert.strictEqual(yield* noteAfter(30), first + 60_000)
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

    it.effect("records the collected uses when the host stops", () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const host = yield* Scope.provide(makeHost(), scope)
        const { account, key } = yield* makeKey(host)
        yield* isKnown(host, key)
        yield* Scope.close(scope, Exit.void)
        assert.isTrue(Option.isSome((yield* host.listKeys(account.id))[0]!.lastUsedAt))
      }))
  })

/** Hosts whose look-ups complete `read` when they have read a key, and return after `gate`. */
const makeGatedLookUp = Effect.gen(function*() {
  const read = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  const store = yield* AccountStore
  const { host: makeSpied } = yield* makeSpy({
    findOwners: (hashes) =>
      store.findOwners(hashes).pipe(
        Effect.tap(() => Deferred.succeed(read, undefined)),
        Effect.tap(() => Deferred.await(gate))
      )
  })
  return { gate, makeSpied, read }
})
