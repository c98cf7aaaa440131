import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Deletion from "../src/Deletion.ts"

/** A deletion whose sets delete these numbers of rows, and the limits that it was called with. */
const deletion = (counts: ReadonlyArray<number>) => {
  const limits: Array<number> = []
  const run = (limit: number) => Effect.sync(() => counts[limits.push(limit) - 1]!)
  return { limits, run }
}

it.effect("deletes in sets until one is smaller than the limit, and returns the number of all rows", () =>
  Effect.gen(function*() {
    const { limits, run } = deletion([3, 3, 1])
    assert.strictEqual(yield* Deletion.inSets({ name: "rows", limit: 3, run }), 7)
    assert.deepStrictEqual(limits, [3, 3, 3])
  }))

it.effect("deletes 1,000 rows in a set by default, and stops after an empty one", () =>
  Effect.gen(function*() {
    const { limits, run } = deletion([1_000, 0])
    assert.strictEqual(yield* Deletion.inSets({ name: "rows", run }), 1_000)
    assert.deepStrictEqual(limits, [1_000, 1_000])
  }))

it.effect("dies before the first set if the limit is not a whole number from 1 to 10,000", () =>
  Effect.gen(function*() {
    for (const limit of [0, -1, 1.5, NaN, 10_001]) {
      const { limits, run } = deletion([0])
      const defect = yield* Deletion.inSets({ name: "rows", limit, run }).pipe(Effect.catchDefect(Effect.succeed))
      assert.match(String(defect), /The limit of rows must be a whole number from 1 to 10000/)
      assert.deepStrictEqual(limits, [])
    }
  }))
