import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import type { AccountStore } from "../src/AccountStore.ts"
import * as KeyTerms from "../src/KeyTerms.ts"
import { isKnown, makeAccount, makeHost, makeKey, makeSpy, reasonOf } from "./Hosts.ts"

/** The contract of the terms of keys, for every store. */
export const suite = <E>(name: string, backend: Layer.Layer<AccountStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`Terms of keys (${name})`, (it) => {
    const hence = (duration: Duration.Input) => Effect.map(DateTime.now, DateTime.addDuration(duration))

    it.effect("returns the terms of a key with its record and its identity", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const terms: KeyTerms.KeyTerms = {
          expiresAt: Option.some(yield* hence("1 hour")),
          scopes: Option.some(["read"]),
          models: Option.some(["a", "b\"c"]),
          networks: Option.some([
            IpNetwork.fromStringUnsafe("192.0.2.0/24"),
            IpNetwork.fromStringUnsafe("2001:db8::/32")
          ])
        }
        const { key, record } = yield* host.createKey(account.id, "restricted", terms)
        assert.deepStrictEqual(record.terms, terms)
        assert.deepStrictEqual(yield* host.listKeys(account.id), [record])
        assert.deepStrictEqual(
          yield* host.authenticate(key),
          Option.some({ account, keyId: record.id, terms })
        )
      }))

    it.effect("rejects terms under which a key is good for nothing", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const network = IpNetwork.fromStringUnsafe("192.0.2.0/24")
        const invalid: ReadonlyArray<Partial<KeyTerms.KeyTerms>> = [
          { expiresAt: Option.some(yield* DateTime.now) },
          { scopes: Option.some([]) },
          { models: Option.some([]) },
          { models: Option.some([""]) },
          { models: Option.some(["a\0"]) },
          { models: Option.some(Array(KeyTerms.modelsMax + 1).fill("a")) },
          { networks: Option.some([]) },
          { networks: Option.some(Array(KeyTerms.networksMax + 1).fill(network)) }
        ]
        for (const terms of invalid) {
          assert.strictEqual(yield* reasonOf(host.createKey(account.id, "key", terms)), "KeyTermsInvalid")
        }
        assert.deepStrictEqual(yield* host.listKeys(account.id), [])
      }))

    it.effect("rolls a key: the new one has its name and terms, the former one expires after the overlap", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const other = yield* makeHost()
        const account = yield* makeAccount(host)
        const former = yield* host.createKey(account.id, "key", { scopes: Option.some(["read"]) })
        yield* other.authenticate(former.key)
        const rolled = yield* host.rollKey(account.id, former.record.id, "1 hour")
        assert.deepStrictEqual([rolled.record.name, rolled.record.terms], ["key", former.record.terms])
        assert.notStrictEqual(Redacted.value(rolled.key), Redacted.value(former.key))
        const until = yield* hence("1 hour")
        const expiryOf = (host: Effect.Success<ReturnType<typeof makeHost>>) =>
          Effect.map(host.authenticate(former.key), Option.map(({ terms }) => terms.expiresAt))
        assert.deepStrictEqual(yield* expiryOf(host), Option.some(Option.some(until)))
        assert.deepStrictEqual(yield* expiryOf(other), Option.some(Option.none()))
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(yield* expiryOf(other), Option.some(Option.some(until)))
        assert.isTrue(yield* isKnown(host, rolled.key))
      }))

    it.effect("renames a key, and rejects invalid names and keys that have ended or that another account has", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { account, key, record } = yield* makeKey(host)
        const renamed = yield* host.renameKey(account.id, record.id, "Renamed")
        assert.deepStrictEqual(renamed, { ...record, name: "Renamed" })
        assert.deepStrictEqual(yield* host.listKeys(account.id), [renamed])
        assert.isTrue(yield* isKnown(host, key))
        for (const name of [" ", "a\u0000b", "x".repeat(101)]) {
          assert.strictEqual(yield* reasonOf(host.renameKey(account.id, record.id, name)), "KeyNameInvalid")
        }
        const stranger = yield* makeAccount(host)
        assert.strictEqual(yield* reasonOf(host.renameKey(stranger.id, record.id, "Theirs")), "KeyNotFound")
        yield* host.revokeKey(account.id, record.id)
        assert.strictEqual(yield* reasonOf(host.renameKey(account.id, record.id, "Ended")), "KeyEnded")
        assert.deepStrictEqual((yield* host.listKeys(account.id)).map(({ name }) => name), ["Renamed"])
      }))

    it.effect("does not extend a key by rolling it", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const account = yield* makeAccount(host)
        const soon = Option.some(yield* hence("1 minute"))
        const { record } = yield* host.createKey(account.id, "key", { expiresAt: soon })
        const rolled = yield* host.rollKey(account.id, record.id, "1 hour")
        assert.deepStrictEqual(rolled.record.terms.expiresAt, soon)
        const expiries = (yield* host.listKeys(account.id)).map(({ terms }) => terms.expiresAt)
        assert.deepStrictEqual(expiries, [soon, soon])
      }))

    it.effect("rolls keys of its own account only, and none that has ended", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { account, record } = yield* makeKey(host)
        const stranger = yield* makeAccount(host)
        assert.strictEqual(yield* reasonOf(host.rollKey(stranger.id, record.id, 0)), "KeyNotFound")
        yield* host.rollKey(account.id, record.id, 0)
        assert.strictEqual(yield* reasonOf(host.rollKey(account.id, record.id, 0)), "KeyEnded")
        const revoked = yield* host.createKey(account.id, "revoked")
        yield* host.revokeKey(account.id, revoked.record.id)
        assert.strictEqual(yield* reasonOf(host.rollKey(account.id, revoked.record.id, 0)), "KeyEnded")
      }))

    it.effect("does not count expired keys, and rolls keys of an account that has the maximum number of keys", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ keysMax: 2 })
        const account = yield* makeAccount(host)
        const { record } = yield* host.createKey(account.id, "lasting")
        yield* host.createKey(account.id, "short", { expiresAt: Option.some(yield* hence("1 minute")) })
        assert.strictEqual(yield* reasonOf(host.createKey(account.id, "more")), "TooManyKeys")
        const { record: second } = yield* host.rollKey(account.id, record.id, "1 hour")
        const { record: third } = yield* host.rollKey(account.id, second.id, "1 hour")
        assert.strictEqual(yield* reasonOf(host.rollKey(account.id, third.id, "1 hour")), "TooManyKeys")
        yield* TestClock.adjust("1 hour")
        yield* host.createKey(account.id, "more")
      }))

    it.effect("deletes keys that expired long ago", () =>
      Effect.gen(function*() {
        const spy = yield* makeSpy()
        const host = yield* spy.host()
        // Deletes the keys of other tests.
        yield* TestClock.adjust("1 day")
        yield* host.deleteRevokedKeys(0, 1_000)
        const account = yield* makeAccount(host)
        const { key } = yield* host.createKey(account.id, "short", { expiresAt: Option.some(yield* hence("1 hour")) })
        const { record: kept } = yield* host.createKey(account.id, "kept")
        yield* TestClock.adjust("90 days")
        assert.strictEqual(yield* host.deleteRevokedKeys("90 days", 10), 0)
        assert.isTrue(yield* isKnown(host, key))
        yield* TestClock.adjust("2 hours")
        // Deletion skips a key whose use is being recorded.
        yield* spy.written
        assert.strictEqual(yield* host.deleteRevokedKeys("90 days", 10), 1)
        assert.isFalse(yield* isKnown(host, key))
        assert.deepStrictEqual((yield* host.listKeys(account.id)).map(({ id }) => id), [kept.id])
      }))
  })
