/** Tests of keys that are forgotten. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import { Budget } from "../../Budget.ts"
import { Places } from "../../Places.ts"
import { RateLimit } from "../../RateLimit.ts"
import { RateLimitStore } from "../../RateLimitStore.ts"
import type { Register, Traits } from "./tests.ts"

/** Registers tests of what is deleted. */
export const forgetTests = (test: Register): void => {
  for (const [name, counted] of counters) {
    test(`forgets a key that is full, so that it begins anew (${name})`, () =>
      Effect.gen(function*() {
        const { forget, hit, peek } = yield* RateLimit
        const full = { ...counted, key: `forgotten ${name}`, limit: 2, cost: 2 }
        const other = { ...full, key: `${full.key} ` }
        const elsewhere = {
          ...full,
          ...(name === "minutes" ? { window: "2 hours" } as const : { window: "3 hours" } as const)
        }
        for (const one of [full, other, elsewhere]) assert.isTrue((yield* hit(one)).accepted)
        assert.isFalse((yield* hit(full)).accepted)
        assert.strictEqual(yield* forget({ ...counted, key: full.key }), 1)
        assert.strictEqual(yield* forget({ ...counted, key: full.key }), 0)
        assert.strictEqual((yield* peek(full)).remaining, 2)
        assert.isTrue((yield* hit(full)).accepted)
        for (const one of [other, elsewhere]) assert.isFalse((yield* hit(one)).accepted)
      }))
  }

  test("forgets the amounts of a day, and those of no other key", () =>
    Effect.gen(function*() {
      const { forget, reserve, used } = yield* Budget
      for (const key of ["bytes/ada", "bytes/adam"]) yield* reserve({ key, limit: 10, amount: 7 })
      assert.strictEqual(yield* forget({ key: "bytes/ada" }), 1)
      assert.strictEqual(yield* forget({ key: "bytes/ada" }), 0)
      assert.deepStrictEqual([yield* used("bytes/ada"), yield* used("bytes/adam")], [0, 7])
      assert.strictEqual((yield* reserve({ key: "bytes/ada", limit: 10, amount: 10 }))._tag, "Granted")
    }))

  test("forgets the leases of a key in sets, and a held place returns with its next renewal", () =>
    Effect.gen(function*() {
      const { acquireFor, forget, held } = yield* Places
      const { acquire, renew } = yield* RateLimitStore
      const random = yield* SecureRandom.SecureRandom
      const place = { id: yield* random.uuidV7(), key: "places/ada" }
      for (let n = 0; n < 4; n++) yield* acquireFor({ key: "places/ada", max: 9, lasts: "10 hours" })
      yield* acquireFor({ key: "places/adam", max: 9, lasts: "10 hours" })
      yield* acquire([{ ...place, max: 9, lasts: Duration.seconds(30) }])
      assert.strictEqual(yield* forget({ key: "places/ada", rowsMax: 2 }), 5)
      assert.deepStrictEqual([yield* held("places/ada"), yield* held("places/adam")], [0, 1])
      assert.strictEqual(yield* forget({ key: "places/ada" }), 0)
      yield* renew([place], Duration.seconds(30))
      assert.strictEqual(yield* held("places/ada"), 1)
    }))
}

/** Registers tests of units of work, and of counters that are swept. */
export const forgetUnitTests = (test: Register, { sweeps, transactions }: Traits): void => {
  if (sweeps) {
    test("forgets the counters of past periods in sets", () =>
      Effect.gen(function*() {
        const { forget, hit } = yield* RateLimit
        const budget = yield* Budget
        for (let n = 0; n < 5; n++) {
          yield* hit({ key: "past", limit: 5 })
          yield* hit({ key: `past ${n}`, limit: 5 })
          yield* budget.reserve({ key: "past", limit: 5, amount: 1 })
          yield* TestClock.adjust("1 day")
        }
        assert.strictEqual(yield* forget({ key: "past", rowsMax: 2 }), 5)
        assert.strictEqual(yield* budget.forget({ key: "past", rowsMax: 5 }), 5)
        for (let n = 0; n < 5; n++) assert.strictEqual(yield* forget({ key: `past ${n}` }), 1)
      }))
  }

  if (transactions) {
    test("forgets nothing in a unit that rolls back", () =>
      Effect.gen(function*() {
        const { forget, hit, peek } = yield* RateLimit
        const budget = yield* Budget
        const places = yield* Places
        const { atomically } = yield* UnitOfWork
        const key = "kept"
        yield* hit({ key, limit: 5 })
        yield* budget.reserve({ key, limit: 5, amount: 2 })
        yield* places.acquireFor({ key, max: 3, lasts: "1 hour" })
        const forgotten = Effect.all([forget({ key }), budget.forget({ key }), places.forget({ key })])
        const counts = yield* Effect.flip(atomically(Effect.flatMap(forgotten, Effect.fail)))
        assert.deepStrictEqual(counts, [1, 1, 1])
        assert.deepStrictEqual(
          [(yield* peek({ key, limit: 5 })).remaining, yield* budget.used(key), yield* places.held(key)],
          [4, 2, 1]
        )
      }))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const counters = [
  ["minutes", {}],
  ["fixed windows", { window: "1 hour" }],
  ["sliding windows", { algorithm: "slidingWindow", window: "1 hour" }],
  ["token buckets", { algorithm: "tokenBucket", window: "1 hour" }]
] as const
