import { assert, it } from "@effect/vitest"
import { Duration, Effect, HashMap, Option, Result, Schema } from "effect"
import * as Counter from "../src/internal/counter.ts"
import * as Lease from "../src/internal/lease.ts"

const amount = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Take = Schema.Struct({
  key: Schema.Literals(["a", "b"]),
  window: Schema.Struct({ length: Schema.Literal(60_000), parts: Schema.Literal(1) }),
  cost: amount(3),
  limit: amount(12)
})

it.effect.prop(
  "grants the takes of a demand as if they came one after the other",
  [Take, amount(20), amount(15)],
  ([take, takes, before]) =>
    Effect.sync(() => {
      const demand = { ...take, takes }
      const { state, value } = Counter.take(before, demand)
      let used = before
      const expected = Array.from({ length: takes }, () => {
        const accepted = used + take.cost <= take.limit
        if (accepted) used += take.cost
        return { accepted, used, at: 7, period: 3, endsAt: 9, counts: undefined, bucket: undefined }
      })
      assert.strictEqual(state, used)
      assert.deepStrictEqual(
        Counter.takenOf(demand, { ...demand, used: state, granted: value, at: 7, period: 3, endsAt: 9 }),
        expected
      )
    })
)

it.effect.prop(
  "puts every take into one demand with the same key, cost and limit",
  [Schema.Array(Take)],
  ([takes]) =>
    Effect.sync(() => {
      const rounds = Counter.roundsOf(takes)
      const found = rounds.flat().flatMap(({ demand, indices }) => {
        assert.strictEqual(demand.takes, indices.length)
        return indices.map((index) => {
          const { takes: _, ...take } = demand
          assert.deepStrictEqual(take, takes[index])
          return index
        })
      })
      assert.deepStrictEqual(found.toSorted((a, b) => a - b), takes.map((_, index) => index))
    })
)

it.effect.prop(
  "has each key at most once per round, and one round if costs and limits are equal",
  [Schema.Array(Take)],
  ([takes]) =>
    Effect.sync(() => {
      for (const round of Counter.roundsOf(takes)) {
        const keys = round.map(({ demand }) => demand.key)
        assert.strictEqual(new Set(keys).size, keys.length)
      }
      const equal = takes.map((take) => ({ ...take, cost: 1, limit: 1 }))
      assert.strictEqual(Counter.roundsOf(equal).length, takes.length === 0 ? 0 : 1)
    })
)

it("numbers minutes, days and other windows", () => {
  const { day, minute } = Counter.windows
  assert.strictEqual(Counter.periodOf(minute, 59_999), 0)
  assert.strictEqual(Counter.periodOf(minute, 60_000), 1)
  assert.strictEqual(Counter.endOf(minute, 1), 120_000)
  assert.strictEqual(Counter.periodOf(day, 86_399_999), 0)
  assert.strictEqual(Counter.endOf(day, 0), 86_400_000)
  const thirds = { length: 1_000, parts: 3 }
  assert.deepStrictEqual([333, 334, 666, 667, 1_000].map((at) => Counter.periodOf(thirds, at)), [0, 1, 1, 2, 3])
  assert.deepStrictEqual([0, 1, 2].map((period) => Counter.endOf(thirds, period)), [334, 667, 1_000])
})

const Acquire = Schema.Struct({ key: Schema.Literals(["a", "b"]), max: amount(4) })

it.effect.prop(
  "grants places while fewer than the maximum are held, and changes no state that is not adopted",
  [Schema.Array(Acquire), amount(3)],
  ([requests, held]) =>
    Effect.sync(() => {
      const counts = { a: held, b: 0 }
      let live: Lease.Live = HashMap.fromIterable([["a", held]])
      for (const [index, { key, max }] of requests.entries()) {
        const request = { id: `${index}`, key, max, lasts: Duration.seconds(1) }
        const decision = Lease.acquire(live, request)
        assert.strictEqual(Option.getOrElse(HashMap.get(live, key), () => 0), counts[key])
        assert.strictEqual(Result.isSuccess(decision), counts[key] < max)
        if (Result.isFailure(decision)) continue
        live = decision.success.state
        counts[key]++
      }
    })
)
