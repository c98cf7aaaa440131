/** Tests of lists of keys, and of what other owners find. */
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import * as ApiKey from "../../ApiKey.ts"
import { hence, isKnown, makeHost, makeKey, makeOwner, namesOf, reasonOf } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of the order and the limit of lists. */
export const listTests = (test: Register): void => {
  test("lists active keys before revoked ones, newest first", () =>
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
      assert.deepStrictEqual(yield* namesOf(host, owner), ["c", "a", "d", "b"])
    }))

  test("lists every active key, however many have expired since it was created", () =>
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
}

/** Registers tests of what owners find. */
export const ownerTests = (test: Register): void => {
  test("finds keys of their own owner only", () =>
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

  test("does not match owners that differ in case, accents, spaces, or at the end only", () =>
    Effect.gen(function*() {
      const host = yield* makeHost({ keysMax: 1 })
      const long = "k".repeat(ApiKey.ownerCharsMax - 1)
      // Some databases compare texts by a collation, or store the beginning of a long one.
      const owners = ["zoe", "Zoe", "zoe ", " zoe", "zoë", "zoe\u0308", long, `${long}k`]
      for (const owner of owners) yield* host.create({ owner, name: owner.slice(0, 4).trim() })
      const found = yield* Effect.forEach(owners, (owner) => host.list(owner))
      assert.deepStrictEqual(found.map((keys) => keys.map(({ owner }) => owner)), owners.map((owner) => [owner]))
      for (const owner of owners) assert.strictEqual(yield* host.forget(owner), 1, owner)
    }))
}
