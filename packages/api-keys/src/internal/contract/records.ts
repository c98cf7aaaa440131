/** Tests of the records of keys. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import * as ApiKey from "../../ApiKey.ts"
import * as KeyTerms from "../../KeyTerms.ts"
import { hence, makeHost, makeKey, reasonOf } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of records that are inserted. */
export const recordTests = (test: Register): void => {
  test("returns a key with its record, which is read again as it was made", () =>
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

  test("stores texts, terms and metadata of the maximum size", () =>
    Effect.gen(function*() {
      const host = yield* makeHost({ prefix: "p".repeat(32) })
      const texts = {
        owner: "猫".repeat(ApiKey.ownerCharsMax),
        name: "猫".repeat(ApiKey.nameCharsMax),
        createdBy: "猫".repeat(ApiKey.authorCharsMax)
      }
      const terms: KeyTerms.KeyTerms = {
        expiresAt: Option.some(KeyTerms.expiresAtMax),
        scopes: Option.some(
          Array.from({ length: KeyTerms.scopesMax }, (_, n) => `${n}`.padEnd(KeyTerms.scopeCharsMax, "猫"))
        ),
        networks: Option.some(
          Array.from({ length: KeyTerms.networksMax }, (_, n) => IpNetwork.fromStringUnsafe(`2001:db8:${n}::/48`))
        )
      }
      const metadata = { text: "猫".repeat(4_096 - "{\"text\":\"\"}".length) }
      const { record } = yield* host.create({ ...texts, terms, metadata })
      assert.deepInclude(record, { ...texts, terms, metadata })
      assert.deepStrictEqual(yield* host.get(texts.owner, record.id), record)
    }))
}

/** Registers tests of records that are changed. */
export const changeTests = (test: Register): void => {
  test("renames a key, which its verification shows at once, and none that has ended", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      const { key, owner, record: { id } } = yield* makeKey(host)
      // Of the same line.
      const other = yield* host.roll({ owner, id, overlap: "1 hour" })
      const record = yield* host.get(owner, id)
      yield* host.verify(key)
      const renamed = yield* host.rename(owner, record.id, "Renamed")
      assert.deepStrictEqual(renamed, { ...record, name: "Renamed" })
      assert.deepStrictEqual(yield* host.get(owner, record.id), renamed)
      assert.deepStrictEqual(yield* host.verify(key), Option.some(renamed))
      assert.deepStrictEqual(yield* host.get(owner, other.record.id), other.record)
      assert.strictEqual(yield* reasonOf(host.rename(owner, record.id, " ")), "NameInvalid")
      yield* host.revoke(owner, record.id)
      assert.strictEqual(yield* reasonOf(host.rename(owner, record.id, "Ended")), "KeyEnded")
    }))
}
