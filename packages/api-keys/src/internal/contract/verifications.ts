/** Tests of look-ups of keys. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { IpNetwork } from "effect/net"
import { TestClock } from "effect/testing"
import { ApiKeyStore } from "../../ApiKeyStore.ts"
import * as Token from "../token.ts"
import { hence, isKnown, makeHost, makeKeys, makeOwner } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of verification. */
export const verificationTests = (test: Register): void => {
  test("returns the active keys of many hashes, each once, and neither revoked nor unknown ones", () =>
    Effect.gen(function*() {
      const { findActive, saveExpiry } = yield* ApiKeyStore
      const host = yield* makeHost()
      const token = Token.define("sk_")
      const [known, expired, revoked] = yield* makeKeys(host, 3)
      yield* host.revoke(revoked!.owner, revoked!.record.id)
      const expiresAt = yield* DateTime.now
      yield* saveExpiry(expired!.record.id, expiresAt)
      const hashes = [known!.key, yield* token.make, expired!.key, revoked!.key].map(token.hash)
      const found = yield* findActive(hashes)
      const terms = { ...expired!.record.terms, expiresAt: Option.some(expiresAt) }
      assert.deepStrictEqual(
        new Map(found.map(({ hash, key }) => [hash, key])),
        new Map([
          [hashes[0]!, known!.record],
          [hashes[2]!, { ...expired!.record, terms }]
        ])
      )
      assert.strictEqual(found.length, 2)
      assert.deepStrictEqual(yield* findActive([]), [])
    }))

  test("rejects a cached key at the millisecond of its expiry", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      const expiresAt = Option.some(yield* hence("1 second"))
      const { key } = yield* host.create({ owner: makeOwner(), name: "short", terms: { expiresAt } })
      assert.isTrue(yield* isKnown(host, key))
      yield* TestClock.adjust("999 millis")
      assert.isTrue(yield* isKnown(host, key))
      yield* TestClock.adjust("1 millis")
      assert.isFalse(yield* isKnown(host, key))
    }))

  test("rejects a key that is restricted to networks from other and unknown addresses", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      const networks = Option.some([IpNetwork.fromStringUnsafe("192.0.2.0/24")])
      const { key } = yield* host.create({ owner: makeOwner(), name: "office", terms: { networks } })
      assert.isFalse(yield* isKnown(host, key))
      const isKnownFrom = (address: string) => Effect.map(host.verify(key, { address }), Option.isSome)
      for (const address of ["192.0.2.7", "::ffff:192.0.2.7"]) assert.isTrue(yield* isKnownFrom(address), address)
      for (const address of ["192.0.3.7", "unknown", ""]) assert.isFalse(yield* isKnownFrom(address), address)
    }))
}
