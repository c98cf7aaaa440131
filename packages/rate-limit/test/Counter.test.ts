import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Counter from "../src/Counter.ts"

const amount = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

const Take = Schema.Struct({
  key: Schema.Literals(["a", "b"]),
  period: amount(1),
  cost: amount(3),
  limit: amount(12)
})

it.effect.prop(
  "serves the takes of a demand as one after the other",
  [Take, amount(20), amount(15)],
  ([take, takes, before]) =>
    Effect.sync(() => {
      const demand = { ...take, takes }
      const grant = Counter.grant(demand, before)
      let used = before
      const expected = Array.from({ length: takes }, () => {
        const accepted = used + take.cost <= take.limit
        if (accepted) used += take.cost
        return { accepted, used }
      })
      assert.strictEqual(grant.used, used)
      assert.deepStrictEqual(Counter.answersOf(demand, grant), expected)
    })
)

it.effect.prop(
  "puts every take into one demand that asks like it",
  [Schema.Array(Take)],
  ([takes]) =>
    Effect.sync(() => {
      const rounds = Counter.roundsOf(takes)
      const served = rounds.flat().flatMap(({ demand, indices }) => {
        assert.strictEqual(demand.takes, indices.length)
        return indices.map((index) => {
          const { takes: _, ...take } = demand
          assert.deepStrictEqual(take, takes[index])
          return index
        })
      })
      assert.deepStrictEqual(served.toSorted((a, b) => a - b), takes.map((_, index) => index))
    })
)

it.effect.prop(
  "never has a key twice in a round, and has one round when all ask alike",
  [Schema.Array(Take)],
  ([takes]) =>
    Effect.sync(() => {
      for (const round of Counter.roundsOf(takes)) {
        const slots = round.map(({ demand }) => Counter.slotText(demand))
        assert.strictEqual(new Set(slots).size, slots.length)
      }
      const alike = takes.map((take) => ({ key: take.key, period: take.period, cost: 1, limit: 1 }))
      assert.strictEqual(Counter.roundsOf(alike).length, takes.length === 0 ? 0 : 1)
    })
)

it("knows minutes and days by their number", () => {
  assert.strictEqual(Counter.periodOf("minute", 59_999), 0)
  assert.strictEqual(Counter.periodOf("minute", 60_000), 1)
  assert.strictEqual(Counter.endOf("minute", 1), 120_000)
  assert.strictEqual(Counter.periodOf("day", 86_399_999), 0)
  assert.strictEqual(Counter.endOf("day", 0), 86_400_000)
})
