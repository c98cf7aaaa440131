/** Tests of keys that are deleted. */
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { hence, isKnown, makeHost, makeKey, makeOwner, namesOf, reasonOf } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of keys that ended long ago. */
export const sweepTests = (test: Register): void => {
  test("deletes keys that were revoked or expired long ago, and rejects them as before", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
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
      assert.deepStrictEqual(yield* namesOf(host, owner), ["kept", "expired"])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* host.deleteEnded("90 days", 10), 1)
      for (const { key } of [revoked, expired]) assert.isFalse(yield* isKnown(host, key))
      assert.isTrue(yield* isKnown(host, kept.key))
      assert.strictEqual(yield* reasonOf(host.revoke(owner, revoked.record.id)), "KeyNotFound")
    }))

  test("deletes keys that expired long ago, also if they were revoked later", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      yield* TestClock.adjust("1 day")
      yield* host.deleteEnded(0, 1_000)
      const { key, owner, record } = yield* makeKey(host)
      yield* host.roll({ owner, id: record.id, overlap: 0 })
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* host.revokeAll(owner), 2)
      assert.strictEqual(yield* host.deleteEnded("1 hour", 10), 1)
      assert.isFalse(yield* isKnown(host, key))
      assert.strictEqual((yield* host.list(owner)).length, 1)
    }))

  test("deletes up to the limit of ended keys, those that ended first before the others", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      yield* TestClock.adjust("1 day")
      yield* host.deleteEnded(0, 1_000)
      const owner = makeOwner()
      const create = (name: string) => Effect.tap(host.create({ owner, name }), TestClock.adjust("1 second"))
      const [first, second, third] = [yield* create("first"), yield* create("second"), yield* create("third")]
      for (const { record } of [third, first, second]) {
        yield* TestClock.adjust("1 minute")
        yield* host.revoke(owner, record.id)
      }
      yield* TestClock.adjust("1 minute")
      const left: Array<ReadonlyArray<string>> = []
      for (let sweeps = 0; sweeps < 3; sweeps++) {
        assert.strictEqual(yield* host.deleteEnded(0, 1), 1)
        left.push(yield* namesOf(host, owner))
      }
      assert.deepStrictEqual(left, [["second", "first"], ["second"], []])
      assert.strictEqual(yield* host.deleteEnded(0, 1), 0)
    }))
}

/** Registers tests of keys of owners that are forgotten. */
export const forgetTests = (test: Register): void => {
  test("erases the keys of an owner, and those of no other one", () =>
    Effect.gen(function*() {
      const host = yield* makeHost()
      const { key, owner, record } = yield* makeKey(host)
      const other = yield* makeKey(host)
      const rolled = yield* host.roll({ owner, id: record.id, overlap: "1 hour" })
      yield* host.revoke(owner, rolled.record.id)
      assert.isTrue(yield* isKnown(host, key))
      assert.strictEqual(yield* host.forget(owner), 2)
      assert.deepStrictEqual([yield* isKnown(host, key), yield* isKnown(host, rolled.key)], [false, false])
      assert.deepStrictEqual(yield* host.list(owner), [])
      assert.strictEqual(yield* host.forget(owner), 0)
      assert.isTrue(yield* isKnown(host, other.key))
      assert.deepStrictEqual(yield* host.list(other.owner), [other.record])
    }))

  test("creates keys of an owner that was forgotten", () =>
    Effect.gen(function*() {
      const host = yield* makeHost({ keysMax: 1 })
      const { owner } = yield* makeKey(host)
      yield* host.forget(owner)
      const { key, record } = yield* host.create({ owner, name: "again" })
      assert.isTrue(yield* isKnown(host, key))
      assert.deepStrictEqual(yield* host.list(owner), [record])
    }))
}
