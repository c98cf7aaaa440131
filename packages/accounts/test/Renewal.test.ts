import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option } from "effect"
import * as PlanTable from "../src/PlanTable.ts"
import { decide, leadSeconds } from "../src/Renewal.ts"

const end = DateTime.makeUnsafe("2030-03-31T12:00:00Z")
const after = (seconds: number) => DateTime.add(end, { seconds })

const studio = (autoRenew: boolean) => Option.some({ tier: "pro", periodEnd: end, autoRenew } as const)
const price = PlanTable.defaults.studio.pro.priceCents
const at = (seconds: number, balance = price, autoRenew = true) =>
  decide("studio", studio(autoRenew), balance, PlanTable.defaults, after(seconds))

describe("a plan at the end of its period", () => {
  it("is kept until shortly before its end", () => {
    assert.strictEqual(at(-leadSeconds - 1)._tag, "Kept")
    assert.strictEqual(at(-leadSeconds - 1, 0, false)._tag, "Kept")
    assert.strictEqual(decide("studio", Option.none(), price, PlanTable.defaults, end)._tag, "Kept")
  })

  it("renews shortly before its end for the following period", () => {
    for (const seconds of [-leadSeconds, -1, 0, 86_400]) {
      assert.deepStrictEqual(at(seconds), {
        _tag: "Renewed",
        plan: { tier: "pro", autoRenew: true, periodEnd: DateTime.add(end, { days: 30 }) },
        priceCents: price,
        credits: 0
      })
    }
  })

  it("lapses at its end, and not before, if the balance is too low", () => {
    assert.strictEqual(at(-1, price - 1)._tag, "Kept")
    assert.strictEqual(at(0, price - 1)._tag, "Lapsed")
  })

  it("lapses at its end if it does not renew, whatever the balance", () => {
    assert.strictEqual(at(-1, price, false)._tag, "Kept")
    assert.strictEqual(at(0, price, false)._tag, "Lapsed")
  })

  it("is not charged for periods that passed without a renewal", () => {
    const now = DateTime.add(end, { days: 45 })
    const renewed = decide("studio", studio(true), price, PlanTable.defaults, now)
    assert.deepInclude(renewed, { _tag: "Renewed", priceCents: price })
    assert.deepStrictEqual(
      renewed._tag === "Renewed" ? renewed.plan.periodEnd : undefined,
      DateTime.add(now, { days: 30 })
    )
  })

  it("renews with its next tier", () => {
    const plan = Option.some({ tier: "scale", periodEnd: end, autoRenew: true, nextTier: "starter" } as const)
    const { priceCents } = PlanTable.defaults.studio.starter
    const decision = decide("studio", plan, priceCents, PlanTable.defaults, end)
    assert.deepStrictEqual(decision, {
      _tag: "Renewed",
      plan: { tier: "starter", autoRenew: true, periodEnd: DateTime.add(end, { days: 30 }) },
      priceCents,
      credits: 0
    })
    assert.strictEqual(decide("studio", plan, priceCents - 1, PlanTable.defaults, end)._tag, "Lapsed")
  })

  it("returns the credits of its tier in the credits group", () => {
    const credits = Option.some({ tier: "business", periodEnd: end, autoRenew: true } as const)
    const { credits: brought, priceCents } = PlanTable.defaults.credits.business
    assert.deepInclude(decide("credits", credits, priceCents, PlanTable.defaults, end), {
      credits: brought,
      priceCents
    })
  })
})
