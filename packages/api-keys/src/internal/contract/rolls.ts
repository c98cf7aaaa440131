/** Tests of keys that are rolled. */
import { assert } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { hence, isKnown, makeHost, makeOwner, reasonOf } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of rolled keys. */
export const rollTests = (test: Register): void => {
  test("rolls a key: the new one has its name, terms, metadata and line, the former one expires after the overlap", () =>
    Effect.gen(function*() {
      const [host, other] = [yield* makeHost(), yield* makeHost()]
      const owner = makeOwner()
      const scopes = Option.some(["read"])
      const former = yield* host.create({ owner, name: "key", terms: { scopes }, metadata: { tier: 1 } })
      yield* other.verify(former.key)
      const id = former.record.id
      const expiresAt = Option.some(yield* hence("1 hour"))
      const rolled = yield* host.roll({ owner, id, overlap: "1 hour", createdBy: "user-8" })
      const { createdBy, line, metadata, name, terms } = rolled.record
      assert.deepStrictEqual(
        { createdBy, line, metadata, name, terms },
        { createdBy: "user-8", line: id, metadata: { tier: 1 }, name: "key", terms: former.record.terms }
      )
      assert.deepStrictEqual(yield* host.get(owner, rolled.record.id), rolled.record)
      assert.deepStrictEqual(yield* host.get(owner, id), {
        ...former.record,
        terms: { ...former.record.terms, expiresAt }
      })
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

  test("does not extend a key by rolling it, and rolls no revoked one", () =>
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
}
