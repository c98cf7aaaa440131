/** Tests of statements. */
import { assert } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { Ledger } from "../../Ledger.ts"
import { after, chargeOf, grantOf, holdOf, newAccount, noon, quotaChargeOf } from "./commands.ts"
import type { Register } from "./tests.ts"

/** Opens an account with a command of each kind, an hour apart. The charge of 5 is booked last, for an earlier time. */
const openAccount = Effect.fnUntraced(function*() {
  const ledger = yield* Ledger
  const account = newAccount()
  const at = (hours: number) => after({ hours })
  yield* ledger.grant(grantOf(account, 100, { at: at(0) }))
  yield* ledger.charge(chargeOf(account, "first", 10, { at: at(1) }))
  yield* ledger.hold(holdOf(account, "held", 30, { at: at(2) }))
  yield* ledger.charge(quotaChargeOf(account, "counted", 5, at(3)))
  yield* ledger.refund({ account, reference: "first", part: { reference: "half", credits: 4 }, at: at(4) })
  yield* ledger.capture({ account, reference: "held", credits: 20, at: at(5) })
  yield* ledger.charge(chargeOf(account, "late", 5, { at: DateTime.add(noon, { hours: 1, minutes: 30 }) }))
  // Of another account, at the same time.
  yield* ledger.grant(grantOf(newAccount(), 7, { at: at(1) }))
  return { account, at, end: at(24) }
})

/** Registers the tests of statements. */
export const statementTests = (test: Register): void => {
  test("have a line per transaction in the order of time, each with the balance after it", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account, end } = yield* openAccount()
      const { closing, lines, next, opening } = yield* ledger.statement({ account, from: noon, to: end })
      assert.deepStrictEqual(opening, { credits: 0, held: 0 })
      assert.deepStrictEqual(
        lines.map(({ balance, change, transaction }) => [
          transaction.kind,
          transaction.reference,
          change.credits,
          change.held,
          balance.credits,
          balance.held
        ]),
        [
          ["grant", "period-1", 100, 0, 100, 0],
          ["charge", "first", -10, 0, 90, 0],
          ["charge", "late", -5, 0, 85, 0],
          ["hold", "held", -30, 30, 55, 30],
          ["charge", "counted", 0, 0, 55, 30],
          ["refund", "first", 4, 0, 59, 30],
          // A capture releases all and charges a part.
          ["release", "held", 30, -30, 89, 0],
          ["charge", "held", -20, 0, 69, 0]
        ]
      )
      assert.deepStrictEqual(closing, { credits: 69, held: 0 })
      assert.isUndefined(next)
      const { credits, held } = yield* ledger.balances(account, end)
      assert.deepStrictEqual({ credits, held }, closing)
      const listed = yield* ledger.entries({ account })
      assert.sameDeepMembers(lines.map(({ transaction }) => transaction), [...listed])
    }))

  test("open with the balance of what was booked before the period, and end before its end", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account, at } = yield* openAccount()
      const found = yield* ledger.statement({ account, from: at(2), to: at(4) })
      assert.deepStrictEqual(found.opening, { credits: 85, held: 0 })
      assert.deepStrictEqual(found.lines.map(({ transaction }) => transaction.reference), ["held", "counted"])
      assert.deepStrictEqual(found.closing, { credits: 55, held: 30 })
      const empty = yield* ledger.statement({ account, from: at(6), to: at(7) })
      assert.deepStrictEqual(empty, {
        opening: { credits: 69, held: 0 },
        lines: [],
        closing: { credits: 69, held: 0 },
        next: undefined
      })
    }))
}

/** Registers the tests of pages and of empty statements. */
export const statementPageTests = (test: Register): void => {
  test("are the same page by page", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account, at, end } = yield* openAccount()
      const period = { account, from: at(1), to: end }
      const whole = yield* ledger.statement(period)
      const lines = []
      let balance = whole.opening
      let next
      do {
        const page: typeof whole = yield* ledger.statement({ ...period, after: next, limit: 2 })
        assert.deepStrictEqual(page.opening, balance)
        assert.isAtMost(page.lines.length, 2)
        lines.push(...page.lines)
        balance = page.closing
        next = page.next
      } while (next !== undefined)
      assert.deepStrictEqual(lines, [...whole.lines])
      assert.deepStrictEqual(balance, whole.closing)
    }))

  test("are empty for an account without transactions", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const found = yield* ledger.statement({ account: newAccount(), from: noon, to: after({ days: 1 }) })
      const none = { credits: 0, held: 0 }
      assert.deepStrictEqual(found, { opening: none, lines: [], closing: none, next: undefined })
    }))
}
