/** Tests of revoked keys. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { hence, isKnown, makeHost, makeKey, makeOwner } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of revocations. */
export const revocationTests = (test: Register): void => {
  test("revokes a key once", () =>
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

  test("revokes a key that has expired", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      const owner = makeOwner()
      const expiresAt = Option.some(yield* hence("1 hour"))
      const { record } = yield* host.create({ owner, name: "expired", terms: { expiresAt } })
      yield* TestClock.adjust("2 hours")
      const revoked = yield* host.revoke(owner, record.id)
      assert.deepStrictEqual(revoked.revokedAt, Option.some(yield* DateTime.now))
      assert.deepStrictEqual(yield* host.get(owner, record.id), revoked)
    }))

  test("revokes immediately on this host, and within 5 seconds on another", () =>
    Effect.gen(function*() {
      const [here, there] = [yield* makeHost(), yield* makeHost()]
      const owner = makeOwner()
      const keys = yield* Effect.forEach(["a", "b", "c"], (name) => here.create({ owner, name }))
      const known = (host: typeof here) => Effect.forEach(keys, ({ key }) => isKnown(host, key))
      yield* known(here)
      yield* known(there)
      yield* here.revoke(owner, keys[0]!.record.id)
      assert.deepStrictEqual(yield* known(here), [false, true, true])
      assert.strictEqual(yield* here.revokeAll(owner), 2)
      assert.deepStrictEqual(yield* known(here), [false, false, false])
      yield* TestClock.adjust("4999 millis")
      assert.deepStrictEqual(yield* known(there), [true, true, true])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* known(there), [false, false, false])
    }))

  test("revokes all keys of an owner that are not revoked, expired ones included", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      const owner = makeOwner()
      const first = yield* host.create({ owner, name: "first" })
      yield* host.create({ owner, name: "second" })
      yield* host.roll({ owner, id: first.record.id, overlap: 0 })
      assert.strictEqual(yield* host.revokeAll(owner), 3)
      const revokedAt = Option.some(yield* DateTime.now)
      const listed = yield* host.list(owner)
      assert.deepStrictEqual(listed.map((key) => key.revokedAt), [revokedAt, revokedAt, revokedAt])
    }))
}
