/** Medians and percentiles, at their boundaries. */
import { assert, it } from "@effect/vitest"
import * as Statistics from "../src/Statistics.ts"

it("returns the middle value, or the mean of the two middle values", () => {
  assert.deepStrictEqual(Statistics.spreadOf([9, 1, 5]), { median: 5, min: 1, max: 9 })
  assert.deepStrictEqual(Statistics.spreadOf([4, 1, 2, 9]), { median: 3, min: 1, max: 9 })
  assert.deepStrictEqual(Statistics.spreadOf([]), { median: 0, min: 0, max: 0 })
})

it("sorts latencies numerically", () => {
  const latencies = Array.from({ length: 1000 }, (_, n) => (n * 7919) % 1000)
  assert.deepStrictEqual(Statistics.percentilesOf(latencies), { p50: 500, p99: 990 })
  assert.deepStrictEqual(Statistics.percentilesOf([3]), { p50: 3, p99: 3 })
})
