/** Medians and percentiles, at the ends where they go wrong. */
import { assert, it } from "@effect/vitest"
import * as Statistics from "../src/Statistics.ts"

it("takes the middle of an odd number, and between the two middles of an even one", () => {
  assert.deepStrictEqual(Statistics.spreadOf([9, 1, 5]), { median: 5, min: 1, max: 9 })
  assert.deepStrictEqual(Statistics.spreadOf([4, 1, 2, 9]), { median: 3, min: 1, max: 9 })
  assert.deepStrictEqual(Statistics.spreadOf([]), { median: 0, min: 0, max: 0 })
})

it("sorts latencies as numbers, whatever their order", () => {
  const latencies = Array.from({ length: 1000 }, (_, n) => (n * 7919) % 1000)
  assert.deepStrictEqual(Statistics.percentilesOf(latencies), { p50: 500, p99: 990 })
  assert.deepStrictEqual(Statistics.percentilesOf([3]), { p50: 3, p99: 3 })
})
