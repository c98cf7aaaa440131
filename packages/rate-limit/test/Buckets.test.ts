/** Compares the rule of token buckets with a log of all hits. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Buckets from "../src/internal/buckets.ts"
import type * as Counter from "../src/internal/counter.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Hits of a key, each some time after the one before it. */
const Hits = Schema.Array(
  Schema.Struct({ after: Schema.Union([between(0, 30), between(0, 700)]), cost: between(0, 5), takes: between(1, 3) })
)

const window = { length: 1_000, parts: 1 }

/** Also a limit by which the length of the window cannot be divided. */
const Limit = Schema.Literals([1, 7, 10])

/** Decides hits in order. Returns them with what was counted, and the bucket afterwards. */
const run = (limit: number, hits: typeof Hits.Type) => {
  let at = 7_777_000
  let state = Buckets.full(at)
  return hits.map(({ after, cost, takes }) => {
    at += after
    const take: Counter.Take = { key: "", window, limit, cost }
    const { state: next, value } = Buckets.take(state, { ...take, takes }, at)
    state = next
    return { at, take, takes, granted: value, counted: value * cost, state }
  })
}

it.effect.prop(
  "an interval has at most the limit and what is filled up in it, and all of that is granted",
  [Hits, Limit],
  ([hits, limit]) =>
    Effect.sync(() => {
      const decided = run(limit, hits)
      /** Tokens of the bucket by a simulation in fractions, with tokens times the length of the window. */
      let tokens = limit * window.length
      let before = decided[0]?.at ?? 0
      for (const [index, { at, counted, granted, take, takes }] of decided.entries()) {
        tokens = Math.min(tokens + (at - before) * limit, limit * window.length)
        before = at
        if (granted < takes) assert.isBelow(tokens - counted * window.length, take.cost * window.length)
        tokens -= counted * window.length
        assert.isAtLeast(tokens, 0)
        for (let first = 0; first <= index; first++) {
          const sum = decided.slice(first, index + 1).reduce((sum, { counted }) => sum + counted, 0)
          assert.isAtMost(sum, limit + (at - decided[first]!.at) * limit / window.length)
        }
      }
    })
)

it.effect.prop(
  "a hit fits at the time of `fitsAt`, not before, and the bucket is full at that of `resetsAt`",
  [Hits, Limit, between(0, 12)],
  ([hits, limit, cost]) =>
    Effect.sync(() => {
      for (const { at, state } of run(limit, hits)) {
        const take: Counter.Take = { key: "", window, limit, cost }
        const fits = (at: number) => Buckets.take(state, { ...take, takes: 1 }, at).value === 1
        const fitsAt = Buckets.fitsAt(take, state)
        assert.strictEqual(fits(fitsAt), cost <= limit)
        if (fitsAt > at) assert.isFalse(fits(fitsAt - 1))
        const resetsAt = Buckets.resetsAt(take, state)
        assert.strictEqual(Buckets.filled(state, limit, resetsAt).missing, 0)
        if (resetsAt > at) assert.isAbove(Buckets.filled(state, limit, resetsAt - 1).missing, 0)
        assert.isAtLeast(Buckets.expiresAt(window, state), resetsAt)
        const { endsAt, used } = Buckets.currentOf(take, state, at)
        if (used === 0) continue
        assert.strictEqual(Buckets.currentOf(take, state, endsAt).used, used - 1)
        assert.strictEqual(Buckets.currentOf(take, state, endsAt - 1).used, used)
      }
    })
)

it("has no token if the limit is 0, and keeps the missing tokens of a limit that changes", () => {
  const demand = { key: "", window, cost: 1, takes: 5 }
  const none = Buckets.take(Buckets.full(0), { ...demand, limit: 0 }, 500)
  assert.deepStrictEqual(none, { state: { missing: 0, filledAt: 500 }, value: 0 })
  assert.strictEqual(Buckets.resetsAt({ ...demand, limit: 0 }, none.state), 1_500)
  const { state } = Buckets.take(none.state, { ...demand, limit: 5 }, 500)
  assert.strictEqual(Buckets.take(state, { ...demand, limit: 8 }, 500).value, 3)
  assert.strictEqual(Buckets.take(state, { ...demand, limit: 3 }, 500).value, 0)
})

it("does not fill a bucket twice for a hit that was sent before another one that is decided", () => {
  const demand = { key: "", window, limit: 10, cost: 1, takes: 10 }
  const { state } = Buckets.take(Buckets.full(0), demand, 5_000)
  const late = Buckets.take(state, demand, 4_000)
  assert.deepStrictEqual(late, { state, value: 0 })
})

it("is exact for the largest product of a limit and its window", () => {
  const length = 31 * 86_400_000
  const limit = Math.floor(Buckets.productMax / length)
  const demand = { key: "", window: { length, parts: 1 }, limit, cost: 1, takes: limit + 1 }
  const { state, value } = Buckets.take(Buckets.full(0), demand, 0)
  assert.deepStrictEqual([value, state.missing], [limit, limit * length])
  assert.strictEqual(Buckets.take(state, demand, 796).value, 0)
  assert.strictEqual(Buckets.take(state, demand, 797).value, 1)
})
