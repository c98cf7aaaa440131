/** Tests of the number of keys, and of concurrent changes. */
import { assert } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { TestClock } from "effect/testing"
import type { KeyId } from "../../ApiKey.ts"
import { hence, isKnown, makeHost, makeKey, makeOwner, reasonOf } from "./hosts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of the number of active keys. */
export const limitTests = (test: Register): void => {
  test("does not count expired keys, and rolls keys of an owner that has the maximum number of keys", () =>
    Effect.gen(function*() {
      const host = yield* makeHost({ keysMax: 2 })
      const owner = makeOwner()
      const roll = (id: KeyId) => host.roll({ owner, id, overlap: "1 hour" })
      const { record } = yield* host.create({ owner, name: "lasting" })
      yield* host.create({ owner, name: "short", terms: { expiresAt: Option.some(yield* hence("1 minute")) } })
      assert.strictEqual(yield* reasonOf(host.create({ owner, name: "more" })), "TooManyKeys")
      const { record: second } = yield* roll(record.id)
      const { record: third } = yield* roll(second.id)
      assert.strictEqual(yield* reasonOf(roll(third.id)), "TooManyKeys")
      yield* TestClock.adjust("1 hour")
      yield* host.create({ owner, name: "more" })
    }))
}

/** Registers tests of concurrent changes of the keys of an owner. */
export const raceTests = (test: Register): void => {
  test("never exceeds keysMax with concurrent calls", () =>
    inRounds(Effect.gen(function*() {
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
    })))

  test("rolls a key without an overlap once, also with concurrent calls of several hosts", () =>
    inRounds(Effect.gen(function*() {
      const [one, other] = [yield* makeHost(), yield* makeHost()]
      const { key, owner, record } = yield* makeKey(one)
      const roll = (host: typeof one) => Effect.exit(host.roll({ owner, id: record.id, overlap: 0 }))
      const exits = yield* Effect.forEach([one, other, one, other], roll, { concurrency: "unbounded" })
      const rolled = exits.filter(Exit.isSuccess)
      assert.strictEqual(rolled.length, 1)
      assert.deepStrictEqual((yield* one.list(owner)).map(({ id }) => id), [rolled[0]!.value.record.id, record.id])
      assert.isTrue(yield* isKnown(one, rolled[0]!.value.key))
      assert.isFalse(yield* isKnown(one, key))
    })))

  test("leaves no active key when all are revoked while others roll and create", () =>
    inRounds(Effect.gen(function*() {
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
    })))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Runs a race several times, since the first calls of a pool of connections meet rarely. */
const inRounds = <E, R>(race: Effect.Effect<void, E, R>) =>
  Effect.forEach([1, 2, 3, 4, 5], () => race, { discard: true })
