/** Tests of quotas, and of lists. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { Ledger } from "../../Ledger.ts"
import { creditsMax } from "../check.ts"
import type { Day } from "../Day.ts"
import { IndivisibleCharge, QuotaExceeded } from "../reasons.ts"
import { accepted, after, chargeOf, grantOf, newAccount, noon, quotaChargeOf, refusalOf } from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of quotas per day. */
export const quotaTests = (test: Register): void => {
  test("counts a quota per UTC day of the charge and rejects charges over the limit", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const late = DateTime.makeUnsafe("2026-11-20T23:59:59.999Z")
      const midnight = DateTime.makeUnsafe("2026-11-21T00:00:00.000Z")
      const results = yield* ledger.chargeAll([
        quotaChargeOf(account, "a", 2),
        quotaChargeOf(account, "b", 2, late),
        quotaChargeOf(account, "c", 2, late),
        quotaChargeOf(account, "d", 1, late, "video"),
        quotaChargeOf(account, "e", 2, midnight)
      ])
      const counted = (kind: string, day: Day, used: number) =>
        Result.succeed({ _tag: "ChargedQuota", kind, day, amount: 1, used } as const)
      assert.deepStrictEqual(results, [
        counted("image", "2026-11-20", 1),
        counted("image", "2026-11-20", 2),
        Result.fail(
          new QuotaExceeded({ kind: "image", limit: 2, used: 2, required: 1, available: 0, resetsAt: midnight })
        ),
        counted("video", "2026-11-20", 1),
        counted("image", "2026-11-21", 1)
      ])
      const { day, quotaUsed, resetsAt } = yield* ledger.balances(account, late)
      assert.deepStrictEqual({ day, quotaUsed: Object.fromEntries(quotaUsed), resetsAt }, {
        day: "2026-11-20",
        quotaUsed: { image: 2, video: 1 },
        resetsAt: midnight
      })
    }))

  test("lowers only the counter of the charge's day, once", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const tomorrow = after({ days: 1 })
      yield* accepted(ledger.chargeAll([
        quotaChargeOf(account, "a", 5),
        quotaChargeOf(account, "b", 5),
        quotaChargeOf(account, "c", 5, tomorrow)
      ]))
      yield* accepted(ledger.refundAll([1, 2].map(() => ({ account, reference: "a", at: tomorrow }))))
      assert.strictEqual((yield* ledger.balances(account, noon)).quotaUsed.get("image"), 1)
      assert.strictEqual((yield* ledger.balances(account, tomorrow)).quotaUsed.get("image"), 1)
    }))
}

/** Registers the test of lists. */
export const listTests = (test: Register): void => {
  test("lists the transactions of an account newest first, page by page", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const { lot: { id: lot } } = yield* ledger.grant(grantOf(account, 10))
      yield* ledger.charge(chargeOf(account, "job", 3))
      yield* ledger.charge(quotaChargeOf(account, "other", 1))
      yield* ledger.refund({ account, reference: "job", at: noon })
      const all = yield* ledger.entries({ account })
      assert.deepStrictEqual(all.map(({ entries, kind, reference }) => ({ kind, reference, entries })), [
        { kind: "refund", reference: "job", entries: [{ from: "consumed", to: lot, amount: 3 }] },
        {
          kind: "charge",
          reference: "other",
          entries: [{ from: "allowance", to: "quota:image:2026-11-20", amount: 1 }]
        },
        { kind: "charge", reference: "job", entries: [{ from: lot, to: "consumed", amount: 3 }] },
        { kind: "grant", reference: "period-1", entries: [{ from: "source:plan", to: lot, amount: 10 }] }
      ])
      assert.strictEqual(all[0]!.reverses, all[2]!.id)
      const page = yield* ledger.entries({ account, before: all[1]!.id, limit: 1 })
      assert.deepStrictEqual(page, [all[2]!])
      assert.deepStrictEqual(yield* ledger.entries({ account, reference: "job" }), [all[0]!, all[2]!])
    }))
}

/** Registers the test of amounts. */
export const quotaAmountTests = (test: Register): void => {
  test("counts the amount of a charge, all or nothing, and returns it to the day of the charge", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const count = (reference: string, amount?: number, limit = 10, at = noon) =>
        ledger.charge(quotaChargeOf(account, reference, limit, at, "minutes", amount))
      const day = "2026-11-20"
      assert.deepStrictEqual(
        yield* count("a", 7),
        { _tag: "ChargedQuota", kind: "minutes", day, amount: 7, used: 7 }
      )
      const refusal = { kind: "minutes", limit: 10, used: 7, resetsAt: midnight }
      const expected = new QuotaExceeded({ ...refusal, required: 4, available: 3 })
      assert.deepStrictEqual(yield* refusalOf(count("b", 4)), expected)
      assert.deepStrictEqual(
        yield* refusalOf(ledger.check(quotaChargeOf(account, "", 10, noon, "minutes", 4))),
        expected
      )
      assert.deepStrictEqual(
        yield* refusalOf(count("b", undefined, 5)),
        new QuotaExceeded({ ...refusal, limit: 5, required: 1, available: 0 })
      )
      yield* count("b", 3)
      yield* count("tomorrow", 10, 10, midnight)
      const part = { reference: "part", credits: 1 }
      assert.deepStrictEqual(
        yield* refusalOf(ledger.refund({ account, reference: "a", part, at: noon })),
        new IndivisibleCharge({ reference: "a" })
      )
      // A refund on the next day, which is repeated.
      yield* ledger.refund({ account, reference: "a", at: midnight })
      yield* ledger.refund({ account, reference: "a", at: midnight })
      const usedAt = (at: typeof noon) => Effect.map(ledger.balances(account, at), ({ quotaUsed }) => [...quotaUsed])
      assert.deepStrictEqual(yield* usedAt(noon), [["minutes", 3]])
      assert.deepStrictEqual(yield* usedAt(midnight), [["minutes", 10]])
      yield* count("c", creditsMax - 3, creditsMax)
      assert.deepStrictEqual(yield* usedAt(noon), [["minutes", creditsMax]])
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
      const [charge] = yield* ledger.entries({ account, reference: "b" })
      assert.deepStrictEqual(charge!.entries, [{ from: "allowance", to: `quota:minutes:${day}`, amount: 3 }])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const midnight = after({ hours: 12 })
