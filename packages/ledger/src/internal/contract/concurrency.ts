/** Tests of calls at the same time. */
import { assert } from "@effect/vitest"
import type * as StorageError from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, Effect, Result } from "effect"
import { Ledger } from "../../Ledger.ts"
import {
  accepted,
  after,
  assertNoUpdateLost,
  chargeOf,
  grantOf,
  newAccount,
  noon,
  quotaChargeOf,
  times
} from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of charges. */
export const concurrentChargeTests = (test: Register): void => {
  test("loses no update when a unit charges and refunds one account concurrently", () =>
    Effect.gen(function*() {
      const { atomically } = yield* UnitOfWork
      yield* assertNoUpdateLost(atomically)
    }))

  test("accepts exactly 100 of 300 concurrent charges on 100 credits", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* accepted(ledger.grantAll(times(4).map((n) => grantOf(account, 25, { reference: `${n}` }))))
      const isCharged = (n: number): Effect.Effect<boolean, StorageError.StorageError> =>
        n % 3 === 0
          ? Effect.map(ledger.chargeAll([chargeOf(account, `${n}`, 1)]), ([result]) => Result.isSuccess(result!))
          : Effect.map(Effect.result(ledger.charge(chargeOf(account, `${n}`, 1))), Result.isSuccess)
      const charged = yield* Effect.forEach(times(300), isCharged, { concurrency: "unbounded" })
      assert.strictEqual(charged.filter((isCharged) => isCharged).length, 100)
      assert.deepStrictEqual(yield* ledger.verify({ account }), {
        accounts: 1,
        totals: { granted: 100, remaining: 0, held: 0, consumed: 100, expired: 0 },
        discrepancies: [],
        next: undefined
      })
    }))

  test("accepts exactly as many concurrent charges as a quota allows", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const results = yield* Effect.forEach(
        times(100),
        (n) => ledger.chargeAll([quotaChargeOf(account, `${n}`, 40)]),
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual(results.flat().filter(Result.isSuccess).length, 40)
    }))
}

/** Registers tests of refunds and of new accounts. */
export const concurrentRefundTests = (test: Register): void => {
  test("refunds once when sixteen refunds run at the same time", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 10))
      yield* ledger.charge(chargeOf(account, "job", 6))
      const refund = { account, reference: "job", at: noon }
      const results = yield* Effect.forEach(times(16), (n) =>
        n % 2 === 0
          ? ledger.refundAll([refund]).pipe(Effect.map(([result]) => Result.getOrThrow(result!)))
          : ledger.refund(refund), { concurrency: "unbounded" })
      const tags = results.map(({ _tag }) => _tag)
      assert.strictEqual(tags.filter((tag) => tag === "Refunded").length, 1)
      assert.strictEqual(tags.filter((tag) => tag === "AlreadyRefunded").length, 15)
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 10)
    }))

  test("either refunds a charge that races its refund, or rejects the refund", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 100))
      const results = yield* Effect.forEach(times(50), (n) =>
        Effect.all([
          ledger.chargeAll([chargeOf(account, `${n}`, 2)]),
          ledger.refundAll([{ account, reference: `${n}`, at: noon }])
        ], { concurrency: 2 }), { concurrency: "unbounded" })
      const kept = results.filter(([, [refund]]) => Result.isFailure(refund!)).length
      assert.isTrue(results.every(([[charge]]) => Result.isSuccess(charge!)))
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 100 - 2 * kept)
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))

  test("creates accounts that many units name at the same time in any order, and verifies them all", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const created = times(120).map(newAccount)
      const before = yield* ledger.verify()
      yield* Effect.forEach(times(12), (n) => {
        const rotated = [...created.slice(n * 10), ...created.slice(0, n * 10)]
        const set = n % 2 === 0 ? rotated : rotated.toReversed()
        return accepted(ledger.grantAll(set.slice(0, 60).map((account) => grantOf(account, 3))))
      }, { concurrency: "unbounded", discard: true })
      const after = yield* ledger.verify()
      assert.strictEqual(after.accounts - before.accounts, created.length)
      assert.strictEqual(after.totals.remaining - before.totals.remaining, 3 * created.length)
      assert.deepStrictEqual(after.discrepancies, [])
    }))
}

/** Registers the test of pages. */
export const verificationTests = (test: Register): void => {
  test("verifies all accounts page by page with the same result", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      yield* accepted(ledger.grantAll(times(7).map(() => grantOf(newAccount(), 3))))
      const whole = yield* ledger.verify()
      assert.isUndefined(whole.next)
      let accounts = 0
      let remaining = 0
      let after: string | undefined
      do {
        const page = yield* ledger.verify({ after, accountsMax: 5 })
        assert.isAtMost(page.accounts, 5)
        accounts += page.accounts
        remaining += page.totals.remaining
        after = page.next
      } while (after !== undefined)
      assert.deepStrictEqual([accounts, remaining], [whole.accounts, whole.totals.remaining])
      // No page follows one that ends with the last account.
      assert.isUndefined((yield* ledger.verify({ accountsMax: whole.accounts })).next)
      assert.isDefined((yield* ledger.verify({ accountsMax: whole.accounts - 1 })).next)
    }))
}

/** Registers the test of all commands together. */
export const mixTests = (test: Register): void => {
  test("has sound books after a concurrent mix over many accounts", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const mine = times(5).map(newAccount)
      const pick = (n: number) => mine[(n * 7) % mine.length]!
      yield* accepted(ledger.grantAll(mine.map((account) => grantOf(account, 500, { reference: "long" }))))
      yield* Effect.forEach(times(400), (n): Effect.Effect<unknown, StorageError.StorageError> => {
        const at = after({ hours: n % 72 })
        const account = pick(n)
        switch (n % 8) {
          case 0:
            return Effect.asVoid(ledger.grantAll([pick(n), pick(n + 1), pick(n + 3)].map((account) =>
              grantOf(account, 20 + n % 5, {
                reference: `${n % 40}`,
                at,
                expiresAt: DateTime.add(at, { hours: 1 + n % 30 })
              })
            )))
          case 1:
          case 2:
          case 3:
            return Effect.result(ledger.charge(chargeOf(account, `${n % 60}`, n % 9, { at })))
          case 4:
            return Effect.asVoid(ledger.chargeAll(
              [pick(n + 2), pick(n)].map((account) =>
                quotaChargeOf(account, `${n % 60}`, 9, at)
              )
            ))
          case 5:
            return ledger.expire({ at, limit: 20 })
          default:
            return Effect.asVoid(ledger.refundAll(
              [pick(n + 1), account].map((account) => ({ account, reference: `${n % 40}`, at }))
            ))
        }
      }, { concurrency: 24, discard: true })
      for (const account of mine) {
        const { discrepancies, totals } = yield* ledger.verify({ account })
        assert.deepStrictEqual(discrepancies, [])
        assert.strictEqual(totals.granted, totals.remaining + totals.consumed + totals.expired)
        assert.isAbove(totals.consumed, 0)
      }
      const all = yield* ledger.verify()
      assert.isAtLeast(all.accounts, mine.length)
      assert.deepStrictEqual(all.discrepancies, [])
    }))
}
