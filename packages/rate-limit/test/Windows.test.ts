/** Compares the rules of windows with a log of all hits. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type * as Counter from "../src/internal/counter.ts"
import * as Windows from "../src/internal/windows.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Hits of a key, each some time after the one before it. */
const Hits = Schema.Array(
  Schema.Struct({ after: Schema.Union([between(0, 30), between(0, 700)]), cost: between(0, 5), takes: between(1, 3) })
)

const limit = 10

/** Decides hits in order. Returns the accepted and refused ones, and what was counted. */
const run = (window: Counter.Window, hits: typeof Hits.Type) => {
  let at = 7_777_000
  let state = Windows.empty(window, 0)
  return hits.map(({ after, cost, takes }) => {
    at += after
    const take = { key: "", window, limit, cost }
    const { state: next, value } = Windows.take(state, { ...take, takes }, at)
    state = next
    return { at, take, takes, granted: value, counted: value * cost, state }
  })
}

type Decided = ReturnType<typeof run>[number]

/** Adds up what was counted from a time on, up to and including a hit. */
const countedSince = (decided: ReadonlyArray<Decided>, index: number, since: number) =>
  decided.slice(0, index + 1).reduce((sum, { at, counted }) => at >= since ? sum + counted : sum, 0)

for (const parts of [3, 20]) {
  const window = { length: 1_000, parts }
  const longest = window.length + window.length / parts

  it.effect.prop(
    `no interval of the length of a sliding window of ${parts} parts has more than the limit`,
    [Hits],
    ([hits]) =>
      Effect.sync(() => {
        const decided = run(window, hits)
        for (const [index, { at, counted }] of decided.entries()) {
          if (counted > 0) assert.isAtMost(countedSince(decided, index, at - window.length + 1), limit)
        }
      })
  )

  it.effect.prop(
    `a hit counts for at most a part longer than a sliding window of ${parts} parts`,
    [Hits],
    ([hits]) =>
      Effect.sync(() => {
        const decided = run(window, hits)
        for (const [index, { at, granted, take, takes }] of decided.entries()) {
          if (granted < takes) assert.isAbove(countedSince(decided, index, at - longest) + take.cost, limit)
        }
      })
  )
}

it.effect.prop(
  "a fixed window has at most the limit, and refuses a hit only if it exceeds the limit",
  [Hits],
  ([hits]) =>
    Effect.sync(() => {
      const window = { length: 500, parts: 1 }
      const decided = run(window, hits)
      for (const [index, { at, counted, granted, take, takes }] of decided.entries()) {
        const used = countedSince(decided, index, at - at % window.length)
        if (counted > 0) assert.isAtMost(used, limit)
        if (granted < takes) assert.isAbove(used + take.cost, limit)
      }
    })
)

it.effect.prop(
  "a hit fits at the time of `fitsAt`, not before, and all of the limit is free at that of `resetsAt`",
  [Hits, between(0, 12), Schema.Literals([1, 3, 20])],
  ([hits, cost, parts]) =>
    Effect.sync(() => {
      const window = { length: 1_000, parts }
      for (const { at, state } of run(window, hits)) {
        const take: Counter.Take = { key: "", window, limit, cost }
        const fits = (at: number) => Windows.take(state, { ...take, takes: 1 }, at).value === 1
        const fitsAt = Windows.fitsAt(take, state, at)
        assert.strictEqual(fits(fitsAt), cost <= limit)
        if (fitsAt > at) assert.isFalse(fits(fitsAt - 1))
        const resetsAt = Windows.resetsAt(window, state, at)
        const usedAt = (at: number) => Windows.usedOf(Windows.take(state, { ...take, cost: 0, takes: 1 }, at).state)
        assert.strictEqual(usedAt(resetsAt), 0)
        if (resetsAt > at) assert.isAbove(usedAt(resetsAt - 1), 0)
        assert.isAtLeast(Windows.expiresAt(window, state.period), resetsAt)
      }
    })
)

it("counts a hit that was sent before a part began, and is decided after a hit of the part, in the part", () => {
  const window = { length: 1_000, parts: 1 }
  const demand = { key: "", window, limit: 3, cost: 1, takes: 2 }
  const { state } = Windows.take(Windows.empty(window, 5), demand, 6_000)
  const late = Windows.take(state, demand, 5_999)
  assert.deepStrictEqual(late, { state: { period: 6, counts: [3] }, value: 1 })
})

it("adds amounts to the window that they were taken from only", () => {
  const before = { period: 7, counts: [5] }
  assert.deepStrictEqual(Windows.add(before, { key: "", period: 7, amount: -2 }), { period: 7, counts: [3] })
  assert.deepStrictEqual(Windows.add(before, { key: "", period: 7, amount: -9 }), { period: 7, counts: [0] })
  assert.deepStrictEqual(Windows.add(before, { key: "", period: 6, amount: -2 }), before)
})
