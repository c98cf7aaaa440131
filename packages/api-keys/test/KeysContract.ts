import { assert, layer } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, Duration, Effect, Exit, Layer, Option, Redacted, type Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import * as ApiKey from "../src/ApiKey.ts"
import type { ApiKeyStore } from "../src/ApiKeyStore.ts"
import * as KeyTerms from "../src/KeyTerms.ts"
import { isKnown, makeHost, makeKey, makeOwner, makeSpy, reasonOf } from "./Hosts.ts"

/** The contract of keys, for every store: what is created, changed, listed and deleted. */
export const suite = <E>(name: string, backend: Layer.Layer<ApiKeyStore | UnitOfWork.UnitOfWork, E>) =>
  layer(Layer.merge(backend, SecureRandom.layerWebCrypto))(`ApiKeys (${name})`, (it) => {
    const hence = (duration: Duration.Input) => Effect.map(DateTime.now, DateTime.addDuration(duration))

    it.effect("returns a key with its record, which is read again as it was made", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = "Grace's \"account\" 猫"
        const terms: KeyTerms.KeyTerms = {
          expiresAt: Option.some(yield* hence("1 hour")),
          scopes: Option.some(["read", "jobs:write \"a\""]),
          networks: Option.some(["192.0.2.0/24", "2001:db8::/32"].map(IpNetwork.fromStringUnsafe))
        }
        const metadata = { environment: "test", limits: { perDay: 1.5, tags: ["a\\u0000", null, true] }, "": {} }
        const { key, record } = yield* host.create({ owner, name: "laptop", terms, metadata, createdBy: "user-7" })
        assert.deepStrictEqual(record, {
          id: record.id,
          owner,
          name: "laptop",
          prefix: Redacted.value(key).slice(0, 11),
          terms,
          metadata,
          line: record.id,
          createdAt: yield* DateTime.now,
          createdBy: "user-7",
          lastUsedAt: Option.none(),
          revokedAt: Option.none()
        })
        assert.deepStrictEqual(yield* host.get(owner, record.id), record)
        assert.deepStrictEqual(yield* host.list(owner), [record])
        assert.deepStrictEqual(yield* host.verify(key, { address: "192.0.2.1" }), Option.some(record))
        const plain = yield* host.create({ owner, name: "plain" })
        assert.deepInclude(plain.record, { terms: KeyTerms.unrestricted, metadata: {}, createdBy: null })
        assert.deepStrictEqual(yield* host.get(owner, plain.record.id), plain.record)
      }))

    it.effect("keeps metadata as it was when the caller changes its object", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        const metadata = { tags: ["a"] }
        const { record } = yield* host.create({ owner, name: "key", metadata })
        metadata.tags.push("b")
        assert.deepStrictEqual((yield* host.get(owner, record.id)).metadata, { tags: ["a"] })
      }))

    it.effect("returns metadata as JSON has it, whatever objects it was made of", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        const metadata = { zero: -0, hole: Array<Schema.Json>(1), proxy: new Proxy({ a: 1 }, {}) }
        const { record } = yield* host.create({ owner, name: "key", metadata })
        assert.deepStrictEqual(record.metadata, { zero: 0, hole: [null], proxy: { a: 1 } })
        assert.deepStrictEqual(yield* host.get(owner, record.id), record)
      }))

    it.effect("rejects invalid owners, authors and names", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        for (const owner of ["", "a\0", "\udc00", "x".repeat(ApiKey.ownerCharsMax + 1)]) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name: "key" })), "OwnerInvalid")
          assert.strictEqual(yield* reasonOf(host.list(owner)), "OwnerInvalid")
        }
        const owner = "x".repeat(ApiKey.ownerCharsMax)
        const createdBy = "x".repeat(ApiKey.authorCharsMax)
        for (const author of ["", "a\0", "\udc00", `${createdBy}x`]) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name: "key", createdBy: author })), "OwnerInvalid")
        }
        for (const name of ["", " ", "a\nb", "a\0", "\udc00", "a".repeat(ApiKey.nameCharsMax + 1)]) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name })), "NameInvalid")
        }
        yield* host.create({ owner, name: "a".repeat(ApiKey.nameCharsMax), createdBy })
        assert.strictEqual((yield* host.list(owner)).length, 1)
      }))

    it.effect("rejects terms under which a key is good for nothing", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        const network = IpNetwork.fromStringUnsafe("192.0.2.0/24")
        const invalid: ReadonlyArray<Partial<KeyTerms.KeyTerms>> = [
          { expiresAt: Option.some(yield* DateTime.now) },
          { expiresAt: Option.some(DateTime.makeUnsafe("+010000-01-01T00:00:00Z")) },
          { scopes: Option.some([]) },
          { scopes: Option.some([""]) },
          { scopes: Option.some(["a\0"]) },
          { scopes: Option.some(["a".repeat(KeyTerms.scopeCharsMax + 1)]) },
          { scopes: Option.some(Array(KeyTerms.scopesMax + 1).fill("a")) },
          { networks: Option.some([]) },
          { networks: Option.some(Array(KeyTerms.networksMax + 1).fill(network)) }
        ]
        for (const terms of invalid) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name: "key", terms })), "TermsInvalid")
        }
        assert.deepStrictEqual(yield* host.list(owner), [])
      }))

    it.effect("rejects metadata that is too large, or no JSON that the store returns as it was", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ metadataCharsMax: 20 })
        const owner = makeOwner()
        const cycle: Record<string, Schema.Json> = {}
        cycle["self"] = cycle
        const invalid: ReadonlyArray<ApiKey.Metadata> = [
          { text: "a".repeat(10) },
          { text: "\0" },
          { "\ud800": 1 },
          { number: Number.NaN },
          cycle,
          JSON.parse("[1]") as ApiKey.Metadata
        ]
        for (const metadata of invalid) {
          assert.strictEqual(yield* reasonOf(host.create({ owner, name: "key", metadata })), "MetadataInvalid")
        }
        yield* host.create({ owner, name: "key", metadata: { text: "a".repeat(9) } })
      }))

    it.effect("never exceeds keysMax with concurrent calls", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* makeHost({ keysMax: 3 }), yield* makeHost({ keysMax: 3 })]
        const owner = makeOwner()
        const exits = yield* Effect.forEach(
          Array.from({ length: 8 }, (_, index) => index % 2 === 0 ? one : other),
          (host) => Effect.exit(host.create({ owner, name: "test" })),
          { concurrency: "unbounded" }
        )
        const made = exits.filter(Exit.isSuccess)
        assert.strictEqual(made.length, 3)
        assert.strictEqual(yield* reasonOf(one.create({ owner, name: "test" })), "TooManyKeys")
        yield* one.revoke(owner, made[0]!.value.record.id)
        yield* one.create({ owner, name: "test" })
      }))

    it.effect("lists active keys before revoked ones, newest first", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        for (const name of ["a", "b", "c", "d"]) {
          yield* TestClock.adjust("1 second")
          yield* host.create({ owner, name })
        }
        const ids = new Map((yield* host.list(owner)).map(({ id, name }) => [name, id]))
        yield* host.revoke(owner, ids.get("b")!)
        yield* host.revoke(owner, ids.get("d")!)
        assert.deepStrictEqual((yield* host.list(owner)).map(({ name }) => name), ["c", "a", "d", "b"])
      }))

    it.effect("lists every active key, however many have expired since it was created", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ keysMax: 2 })
        const owner = makeOwner()
        const lasting = yield* host.create({ owner, name: "lasting" })
        for (let made = 0; made < 5; made++) {
          yield* host.create({ owner, name: "short", terms: { expiresAt: Option.some(yield* hence("1 minute")) } })
          yield* TestClock.adjust("1 minute")
        }
        const listed = yield* host.list(owner)
        assert.deepStrictEqual(listed[0], lasting.record)
        assert.strictEqual(listed.length, 4)
      }))

    it.effect("finds keys of their own owner only", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { key, owner, record } = yield* makeKey(host)
        const stranger = makeOwner()
        yield* host.create({ owner: stranger, name: "theirs" })
        const calls = [
          host.get(stranger, record.id),
          host.revoke(stranger, record.id),
          host.rename(stranger, record.id, "theirs"),
          host.roll({ owner: stranger, id: record.id, overlap: 0 }),
          host.get(owner, yield* ApiKey.KeyId.make)
        ]
        for (const call of calls) assert.strictEqual(yield* reasonOf<unknown>(call), "KeyNotFound")
        assert.strictEqual(yield* host.revokeAll(stranger), 1)
        assert.strictEqual(yield* host.forget(stranger), 1)
        assert.isTrue(yield* isKnown(host, key))
        assert.deepStrictEqual((yield* host.list(owner)).map(({ id, name }) => ({ id, name })), [
          { id: record.id, name: "test" }
        ])
      }))

    it.effect("revokes a key once", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { owner, record } = yield* makeKey(host)
        const revoked = yield* host.revoke(owner, record.id)
        assert.deepStrictEqual(revoked, { ...record, revokedAt: Option.some(yield* DateTime.now) })
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(yield* host.revoke(owner, record.id), revoked)
        assert.deepStrictEqual(yield* host.get(owner, record.id), revoked)
        assert.strictEqual(yield* host.revokeAll(owner), 0)
        assert.deepStrictEqual(yield* host.get(owner, record.id), revoked)
      }))

    it.effect("renames a key, which its verification shows at once, and none that has ended", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { key, owner, record } = yield* makeKey(host)
        yield* host.verify(key)
        const renamed = yield* host.rename(owner, record.id, "Renamed")
        assert.deepStrictEqual(renamed, { ...record, name: "Renamed" })
        assert.deepStrictEqual(yield* host.list(owner), [renamed])
        assert.deepStrictEqual(yield* host.verify(key), Option.some(renamed))
        assert.strictEqual(yield* reasonOf(host.rename(owner, record.id, " ")), "NameInvalid")
        yield* host.revoke(owner, record.id)
        assert.strictEqual(yield* reasonOf(host.rename(owner, record.id, "Ended")), "KeyEnded")
      }))

    it.effect("rolls a key: the new one has its name, terms, metadata and line, the former one expires after the overlap", () =>
      Effect.gen(function*() {
        const [host, other] = [yield* makeHost(), yield* makeHost()]
        const owner = makeOwner()
        const scopes = Option.some(["read"])
        const former = yield* host.create({ owner, name: "key", terms: { scopes }, metadata: { tier: 1 } })
        yield* other.verify(former.key)
        const id = former.record.id
        const rolled = yield* host.roll({ owner, id, overlap: "1 hour", createdBy: "user-8" })
        const { createdBy, line, metadata, name, terms } = rolled.record
        assert.deepStrictEqual(
          { createdBy, line, metadata, name, terms },
          { createdBy: "user-8", line: id, metadata: { tier: 1 }, name: "key", terms: former.record.terms }
        )
        assert.notStrictEqual(Redacted.value(rolled.key), Redacted.value(former.key))
        const again = yield* host.roll({ owner, id: rolled.record.id, overlap: 0 })
        assert.strictEqual(again.record.line, id)
        assert.isFalse(yield* isKnown(host, rolled.key))
        assert.strictEqual(yield* reasonOf(host.roll({ owner, id: rolled.record.id, overlap: 0 })), "KeyEnded")
        yield* TestClock.adjust("3599 seconds")
        assert.isTrue(yield* isKnown(host, former.key))
        assert.isTrue(yield* isKnown(other, former.key))
        yield* TestClock.adjust("1 second")
        assert.isFalse(yield* isKnown(host, former.key))
        assert.isFalse(yield* isKnown(other, former.key))
        assert.isTrue(yield* isKnown(host, again.key))
      }))

    it.effect("does not extend a key by rolling it, and rolls no revoked one", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        const expiresAt = Option.some(yield* hence("1 minute"))
        const { record } = yield* host.create({ owner, name: "key", terms: { expiresAt } })
        const rolled = yield* host.roll({ owner, id: record.id, overlap: "1 hour" })
        const expiries = (yield* host.list(owner)).map(({ terms }) => terms.expiresAt)
        assert.deepStrictEqual([rolled.record.terms.expiresAt, ...expiries], [expiresAt, expiresAt, expiresAt])
        yield* host.revoke(owner, record.id)
        assert.strictEqual(yield* reasonOf(host.roll({ owner, id: record.id, overlap: 0 })), "KeyEnded")
      }))

    it.effect("rejects an overlap that ends after the last time that a key can expire", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { key, owner, record } = yield* makeKey(host)
        for (const overlap of [Duration.infinity, Number.MAX_SAFE_INTEGER]) {
          assert.strictEqual(yield* reasonOf(host.roll({ owner, id: record.id, overlap })), "TermsInvalid")
        }
        assert.deepStrictEqual(yield* host.list(owner), [record])
        assert.isTrue(yield* isKnown(host, key))
      }))

    it.effect("does not count expired keys, and lets an owner with all keys roll them", () =>
      Effect.gen(function*() {
        const host = yield* makeHost({ keysMax: 2 })
        const owner = makeOwner()
        const roll = (id: ApiKey.KeyId) => host.roll({ owner, id, overlap: "1 hour" })
        const { record } = yield* host.create({ owner, name: "lasting" })
        yield* host.create({ owner, name: "short", terms: { expiresAt: Option.some(yield* hence("1 minute")) } })
        assert.strictEqual(yield* reasonOf(host.create({ owner, name: "more" })), "TooManyKeys")
        const { record: second } = yield* roll(record.id)
        const { record: third } = yield* roll(second.id)
        assert.strictEqual(yield* reasonOf(roll(third.id)), "TooManyKeys")
        yield* TestClock.adjust("1 hour")
        yield* host.create({ owner, name: "more" })
      }))

    it.effect("leaves no active key when all are revoked while others roll and create", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const owner = makeOwner()
        const made = yield* Effect.forEach(Array.from({ length: 5 }), () => host.create({ owner, name: "key" }))
        const [revoked] = yield* Effect.all([
          host.revokeAll(owner),
          Effect.forEach(
            made,
            ({ record }) => Effect.exit(host.roll({ owner, id: record.id, overlap: 0 })),
            { concurrency: "unbounded" }
          )
        ], { concurrency: "unbounded" })
        // A key that was rolled before counts, and none can be rolled afterwards.
        const keys = yield* host.list(owner)
        assert.deepStrictEqual(keys.filter(({ revokedAt }) => Option.isNone(revokedAt)), [])
        assert.strictEqual(revoked, keys.length)
      }))

    it.effect("erases the keys of an owner", () =>
      Effect.gen(function*() {
        const host = yield* makeHost()
        const { key, owner, record } = yield* makeKey(host)
        yield* host.roll({ owner, id: record.id, overlap: "1 hour" })
        assert.isTrue(yield* isKnown(host, key))
        assert.strictEqual(yield* host.forget(owner), 2)
        assert.isFalse(yield* isKnown(host, key))
        assert.deepStrictEqual(yield* host.list(owner), [])
        assert.strictEqual(yield* host.forget(owner), 0)
      }))

    it.effect("deletes keys that were revoked or expired long ago, and rejects them as before", () =>
      Effect.gen(function*() {
        const spy = yield* makeSpy()
        const host = yield* spy.host()
        // Deletes the keys of other tests.
        yield* TestClock.adjust("1 day")
        yield* host.deleteEnded(0, 1_000)
        const owner = makeOwner()
        const revoked = yield* host.create({ owner, name: "revoked" })
        const expiresAt = Option.some(yield* hence("1 hour"))
        const expired = yield* host.create({ owner, name: "expired", terms: { expiresAt } })
        const kept = yield* host.create({ owner, name: "kept" })
        yield* host.revoke(owner, revoked.record.id)
        yield* TestClock.adjust("90 days")
        assert.strictEqual(yield* host.deleteEnded("90 days", 10), 0)
        yield* TestClock.adjust("1 second")
        const counts = yield* Effect.all([host.deleteEnded("90 days", 10), host.deleteEnded("90 days", 10)], {
          concurrency: "unbounded"
        })
        assert.strictEqual(counts[0] + counts[1], 1)
        assert.deepStrictEqual((yield* host.list(owner)).map(({ name }) => name), ["kept", "expired"])
        yield* TestClock.adjust("1 hour")
        assert.strictEqual(yield* host.deleteEnded("90 days", 10), 1)
        for (const { key } of [revoked, expired]) assert.isFalse(yield* isKnown(host, key))
        assert.isTrue(yield* isKnown(host, kept.key))
        assert.strictEqual(yield* reasonOf(host.revoke(owner, revoked.record.id)), "KeyNotFound")
      }))

    it.effect("creates nothing in a unit that rolls back", () =>
      Effect.gen(function*() {
        const { atomically } = yield* UnitOfWork.UnitOfWork
        const host = yield* makeHost()
        const owner = makeOwner()
        yield* Effect.flip(atomically(Effect.andThen(host.create({ owner, name: "key" }), Effect.fail("no"))))
        assert.deepStrictEqual(yield* host.list(owner), [])
      }))
  })
