/** Tests of the trial balance. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../Ledger.ts"
import {
  accepted,
  after,
  chargeOf,
  concurrently,
  grantOf,
  holdOf,
  newAccount,
  noon,
  quotaChargeOf,
  times
} from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers the tests. The first one needs an empty store. */
export const trialBalanceTests = (test: Register): void => {
  test("sums up all accounts by class, with a line for each class", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const empty = yield* ledger.trialBalance
      assert.deepStrictEqual([empty.booked, empty.balanced], [0, true])
      assert.deepStrictEqual(empty.lines.map(({ debits }) => debits), [0, 0, 0, 0, 0, 0, 0])

      const [one, other] = [newAccount(), newAccount()]
      yield* accepted(ledger.grantAll([grantOf(one, 100), grantOf(other, 50, { expiresAt: after({ days: 1 }) })]))
      yield* accepted(ledger.chargeAll([
        chargeOf(one, "a", 30),
        chargeOf(one, "b", 8),
        chargeOf(one, "free", 0),
        chargeOf(other, "c", 20),
        quotaChargeOf(one, "d", 5),
        quotaChargeOf(other, "e", 5),
        quotaChargeOf(other, "f", 5)
      ]))
      yield* ledger.refund({ account: one, reference: "b", at: after({ hours: 1 }) })
      yield* ledger.refund({ account: other, reference: "f", at: after({ hours: 1 }) })
      yield* accepted(ledger.holdAll([holdOf(one, "g", 12), holdOf(one, "h", 7)]))
      yield* ledger.capture({ account: one, reference: "g", credits: 5, at: noon })
      yield* ledger.expire({ at: after({ hours: 30 }) })

      assert.deepStrictEqual(yield* ledger.trialBalance, {
        lines: [
          { class: "granted", unit: "credits", debits: 0, credits: 150, balance: -150 },
          { class: "remaining", unit: "credits", debits: 170, credits: 112, balance: 58 },
          { class: "held", unit: "credits", debits: 19, credits: 12, balance: 7 },
          { class: "consumed", unit: "credits", debits: 63, credits: 8, balance: 55 },
          { class: "expired", unit: "credits", debits: 30, credits: 0, balance: 30 },
          { class: "allowance", unit: "jobs", debits: 1, credits: 3, balance: -2 },
          { class: "used", unit: "jobs", debits: 3, credits: 1, balance: 2 }
        ],
        booked: 286,
        balanced: true
      })
    }))

  test("balances at any moment while accounts are charged", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 100))
      const before = yield* ledger.trialBalance
      const found = yield* concurrently(
        times(20).flatMap((n) => [
          Effect.as(ledger.charge(chargeOf(account, `${n}`, 2)), undefined),
          ledger.trialBalance
        ])
      )
      for (const balance of found) assert.isTrue(balance?.balanced ?? true)
      assert.strictEqual((yield* ledger.trialBalance).booked, before.booked + 40)
    }))
}
