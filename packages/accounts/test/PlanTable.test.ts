import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option, Result, Schema } from "effect"
import * as PlanTable from "../src/PlanTable.ts"

const { defaults } = PlanTable
const now = DateTime.makeUnsafe("2030-01-01T00:00:00Z")
const until = (seconds: number) => DateTime.add(now, { seconds })
const parse = Schema.decodeUnknownResult(PlanTable.PlanTable, { errors: "all", onExcessProperty: "error" })

it("has the documented limits", () => {
  const limits = [
    ...Object.entries(defaults.studio).map(([tier, { concurrency, createRpm, weight }]) => [
      "studio",
      tier,
      createRpm,
      concurrency,
      weight
    ]),
    ...Object.entries(defaults.credits).map(([tier, { concurrency, createRpm, weight }]) => [
      "credits",
      tier,
      createRpm,
      concurrency,
      weight
    ]),
    ["no plan", "free", defaults.free.createRpm, defaults.free.concurrency, defaults.free.weight]
  ]
  assert.deepStrictEqual(limits, [
    ["studio", "starter", 20, 1, 2],
    ["studio", "pro", 40, 2, 4],
    ["studio", "scale", 80, 4, 8],
    ["credits", "starter", 30, 2, 2],
    ["credits", "pro", 60, 4, 4],
    ["credits", "business", 120, 8, 8],
    ["no plan", "free", 10, 1, 1]
  ])
})

it("has the documented prices, quotas and credits", () => {
  const { credits, studio } = defaults
  assert.deepStrictEqual(
    Object.values(studio).map(({ priceCents, quota }) => [priceCents, quota.images, quota.videos]),
    [[900, 50, 5], [2900, 200, 20], [9900, 1000, 100]]
  )
  assert.deepStrictEqual(
    Object.values(credits).map(({ credits, priceCents }) => [priceCents, credits]),
    [[1000, 1000], [4500, 5000], [16_000, 20_000]]
  )
  assert.strictEqual(defaults.periodDays, 30)
})

it("changes only what is configured", () => {
  const table = Result.getOrThrow(parse({ studio: { pro: { price_cents: 3500, quota: { images: 250 } } } }))
  assert.deepStrictEqual(table, {
    ...defaults,
    studio: {
      ...defaults.studio,
      pro: { ...defaults.studio.pro, priceCents: 3500, quota: { images: 250, videos: 20 } }
    }
  })
})

it("rejects invalid tables", () => {
  const wrong = [
    { studio: { gold: {} } },
    { studio: { pro: { concurrency: 0 } } },
    { credits: { pro: { create_rpm: 1.5 } } },
    { credits: { pro: { credits: -1 } } },
    { free: { create_rpm: "10" } },
    { period_days: 0 },
    { periodDays: 31 },
    { free: { createRpm: 11 } },
    { studio: { pro: { priceCents: 1 } } },
    { credits: { pro: { priceCents: 1 } } }
  ]
  for (const table of wrong) assert.isTrue(Result.isFailure(parse(table)), JSON.stringify(table))
})

it.effect.prop(
  "returns the limits of a tier until its period ends, and the free limits afterwards",
  [Schema.Literals(["starter", "pro", "scale"]), Schema.Int.check(Schema.isBetween({ minimum: -100, maximum: 100 }))],
  ([tier, seconds]) =>
    Effect.sync(() => {
      const plan = Option.some({ tier, periodEnd: until(seconds), autoRenew: true })
      const { concurrency, createRpm } = PlanTable.limits(defaults, "studio", plan, now)
      const expected = seconds > 0 ? defaults.studio[tier] : defaults.free
      assert.deepStrictEqual([createRpm, concurrency], [expected.createRpm, expected.concurrency])
      assert.deepStrictEqual(
        PlanTable.dailyQuota(defaults, plan, now),
        seconds > 0 ? Option.some(defaults.studio[tier].quota) : Option.none()
      )
    })
)

it("returns the free limits for a group without a plan", () => {
  assert.deepStrictEqual(PlanTable.limits(defaults, "studio", Option.none(), now), defaults.free)
  assert.deepStrictEqual(PlanTable.limits(defaults, "credits", Option.none(), now), defaults.free)
  assert.isTrue(Option.isNone(PlanTable.dailyQuota(defaults, Option.none(), now)))
})
