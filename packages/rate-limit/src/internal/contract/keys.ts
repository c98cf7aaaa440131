/** Tests of keys that differ little. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Budget } from "../../Budget.ts"
import { Places } from "../../Places.ts"
import { RateLimit } from "../../RateLimit.ts"
import type { Register } from "./tests.ts"

/** Registers the tests. */
export const keyTests = (test: Register): void => {
  for (
    const [kind, options] of [
      ["minutes", {}],
      ["fixed windows", { window: "1 hour" }],
      ["sliding windows", { algorithm: "slidingWindow" }],
      ["token buckets", { algorithm: "tokenBucket" }]
    ] as const
  ) {
    test(`of ${kind} are apart if they differ in case, accents, spaces, or at the end only`, () =>
      Effect.gen(function*() {
        const { hit, peek } = yield* RateLimit
        const limit = keys.length + 1
        // In separate calls, with a cost of its own each.
        for (const [index, key] of keys.entries()) yield* hit({ key, limit, cost: index + 1, ...options })
        const left = yield* Effect.forEach(keys, (key) => peek({ key, limit, ...options }))
        assert.deepStrictEqual(left.map(({ remaining }) => remaining), keys.map((_, index) => limit - index - 1))
      }))
  }

  test("of days are apart if they differ in case, accents, spaces, or at the end only", () =>
    Effect.gen(function*() {
      const { reserve, used } = yield* Budget
      for (const [index, key] of keys.entries()) yield* reserve({ key, limit: 100, amount: index + 1 })
      assert.deepStrictEqual(yield* Effect.forEach(keys, used), keys.map((_, index) => index + 1))
    }))

  test("of places are apart if they differ in case, accents, spaces, or at the end only", () =>
    Effect.gen(function*() {
      const { acquire, held } = yield* Places
      assert.deepStrictEqual(yield* Effect.forEach(keys, (key) => acquire({ key, max: 1 })), keys.map(() => true))
      assert.deepStrictEqual(yield* Effect.forEach(keys, held), keys.map(() => 1))
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Some databases compare texts by a collation, or store the beginning of a long one. */
const keys = [
  "hits/zoe",
  "hits/Zoe",
  "hits/zoë",
  "hits/zoe\u0308",
  "hits/zoe ",
  " hits/zoe",
  `${"k".repeat(200)}1`,
  `${"k".repeat(200)}2`
]
