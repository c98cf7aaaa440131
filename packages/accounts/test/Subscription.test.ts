import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option, Result, Schema } from "effect"
import type { CreditsTier } from "../src/Plan.ts"
import * as PlanTable from "../src/PlanTable.ts"
import { decide } from "../src/Subscription.ts"

const table = PlanTable.defaults
const { credits: tiers } = table
const now = DateTime.makeUnsafe("2028-02-29T23:59:59.999Z")
const after = (days: number) => DateTime.add(now, { milliseconds: days * 86_400_000 })

const credits = (tier: CreditsTier, days: number, autoRenew = true, nextTier?: CreditsTier) =>
  Option.some({ tier, periodEnd: after(days), autoRenew, ...(nextTier === undefined ? {} : { nextTier }) })

const subscribe = (
  plan: ReturnType<typeof credits> | Option.None<never>,
  tier: CreditsTier,
  balanceCents = 1_000_000
) => decide({ balanceCents, plan }, { group: "credits", tier }, table, now)

const renewing = (tier: CreditsTier, days: number) => ({ tier, periodEnd: after(days), autoRenew: true })

describe("a subscription", () => {
  it("starts a period if no plan is active", () => {
    for (const plan of [Option.none(), credits("business", 0), credits("pro", -1)]) {
      assert.deepStrictEqual(
        subscribe(plan, "pro", tiers.pro.priceCents),
        Result.succeed({
          _tag: "Started",
          plan: renewing("pro", 30),
          priceCents: tiers.pro.priceCents,
          credits: tiers.pro.credits
        })
      )
    }
  })

  it("is refused if the balance is too low", () => {
    const { priceCents: requiredCents } = tiers.pro
    assert.deepStrictEqual(
      subscribe(Option.none(), "pro", requiredCents - 1),
      Result.fail({ _tag: "BalanceTooLow", requiredCents, availableCents: requiredCents - 1 })
    )
  })

  it("pays the difference to a higher tier for the time that is left", () => {
    const difference = tiers.pro.priceCents - tiers.starter.priceCents
    const more = tiers.pro.credits - tiers.starter.credits
    const half = { _tag: "Raised", plan: renewing("pro", 15), priceCents: difference / 2, credits: more / 2 } as const
    assert.deepStrictEqual(subscribe(credits("starter", 15, false), "pro", difference / 2), Result.succeed(half))
    // A period of a year costs in proportion.
    const year = { ...half, plan: renewing("pro", 360), priceCents: difference * 12, credits: more * 12 }
    assert.deepStrictEqual(subscribe(credits("starter", 360), "pro"), Result.succeed(year))
  })

  it("rounds the price up and the credits down", () => {
    const moment = subscribe(credits("starter", 1 / 86_400_000), "pro")
    assert.deepInclude(Result.getOrThrow(moment), { _tag: "Raised", priceCents: 1, credits: 0 })
  })

  it("changes to a lower tier with the next period", () => {
    const scheduled = { _tag: "Scheduled", plan: { ...renewing("business", 3), nextTier: "starter" } } as const
    assert.deepStrictEqual(subscribe(credits("business", 3, false), "starter", 0), Result.succeed(scheduled))
  })

  it("with the tier of the plan renews it with that tier", () => {
    const continued = { _tag: "Continued", plan: renewing("pro", 3) } as const
    for (const plan of [credits("pro", 3), credits("pro", 3, false), credits("pro", 3, true, "starter")]) {
      assert.deepStrictEqual(subscribe(plan, "pro", 0), Result.succeed(continued))
    }
  })

  it.prop(
    "costs no less in two steps than in one",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400 * 86_400_000 }))],
    ([milliseconds]) => {
      const price = (from: CreditsTier, to: CreditsTier) => {
        const plan = credits(from, milliseconds / 86_400_000)
        const decision = Result.getOrThrow(subscribe(plan, to, Number.MAX_SAFE_INTEGER))
        return decision._tag === "Raised" ? decision : assert.fail(decision._tag)
      }
      const one = price("starter", "business")
      const two = [price("starter", "pro"), price("pro", "business")]
      const paid = two.reduce((sum, { priceCents }) => sum + priceCents, 0)
      const granted = two.reduce((sum, { credits }) => sum + credits, 0)
      assert.isTrue(paid >= one.priceCents && paid <= one.priceCents + 1)
      assert.isTrue(granted <= one.credits && granted >= one.credits - 1)
    }
  )
})
