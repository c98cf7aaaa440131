/** Tests of refunds of parts. */
import { assert } from "@effect/vitest"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import * as Books from "../../Books.ts"
import { Ledger } from "../../Ledger.ts"
import type { Refunded } from "../commands.ts"
import { IndivisibleCharge, RefundExceedsCharge, UnknownCharge } from "../reasons.ts"
import { openAccount, refundOf } from "./chargedAccounts.ts"
import {
  accepted,
  adopt,
  after,
  chargeOf,
  concurrently,
  grantOf,
  newAccount,
  noon,
  quotaChargeOf,
  refusalOf,
  times
} from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of parts. */
export const partTests = (test: Register): void => {
  test("leave the lots as if the charge had been smaller, and the rest of the charge can be refunded", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account, lots: [a, b, c] } = yield* openAccount(24)
      assert.deepStrictEqual(yield* ledger.refund(refundOf(account, "part", 6)), {
        _tag: "Refunded",
        credits: 6,
        parts: [{ lot: b!, credits: 2 }, { lot: c!, credits: 4 }]
      })
      const smaller = yield* openAccount(18)
      const remaining = (name: string) =>
        Effect.map(ledger.balances(name, noon), ({ lots }) => lots.map((lot) => lot.remaining))
      assert.deepStrictEqual(yield* remaining(account), [2, 10])
      assert.deepStrictEqual(yield* remaining(smaller.account), [2, 10])
      assert.deepStrictEqual(yield* ledger.refund(refundOf(account, "second", 3)), {
        _tag: "Refunded",
        credits: 3,
        parts: [{ lot: b!, credits: 3 }]
      })
      assert.deepStrictEqual(yield* ledger.refund({ account, reference: "job", at: noon }), {
        _tag: "Refunded",
        credits: 15,
        parts: [{ lot: a!, credits: 10 }, { lot: b!, credits: 5 }]
      })
      assert.deepStrictEqual(yield* remaining(account), [10, 10, 10])
      assert.deepStrictEqual(yield* ledger.verify({ account }), {
        accounts: 1,
        totals: { granted: 30, remaining: 30, held: 0, consumed: 0, expired: 0 },
        discrepancies: [],
        next: undefined
      })
    }))

  test("happen once per reference of the part, also after the rest was refunded", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account } = yield* openAccount(24)
      yield* ledger.charge(chargeOf(account, "job 2", 4))
      const again = { _tag: "AlreadyRefunded" } as const
      const part = refundOf(account, "part", 6)
      const [first, second] = yield* accepted(ledger.refundAll([part, part]))
      assert.deepStrictEqual([first!._tag, second], ["Refunded", again])
      assert.deepStrictEqual(yield* ledger.refund(refundOf(account, "part", 7)), again)
      // The references of parts belong to their charge.
      assert.strictEqual(
        (yield* ledger.refund({ ...refundOf(account, "part", 4), reference: "job 2" }))._tag,
        "Refunded"
      )
      yield* ledger.refund({ account, reference: "job", at: noon })
      assert.deepStrictEqual(yield* ledger.refund(part), again)
      assert.deepStrictEqual(yield* ledger.refund({ account, reference: "job", at: noon }), again)
      // Nothing is left of this charge, although no command refunded the rest.
      assert.deepStrictEqual(yield* ledger.refund({ account, reference: "job 2", at: noon }), again)
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 30)
    }))
}

/** Registers tests of parts that are refused, and of lists. */
export const refusedPartTests = (test: Register): void => {
  test("are refused beyond what is left of the charge, of charges to quotas, and of unknown charges", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account } = yield* openAccount(24)
      yield* ledger.charge(quotaChargeOf(account, "quota", 1))
      yield* ledger.charge(chargeOf(account, "free", 0))
      yield* ledger.refund(refundOf(account, "part", 6))
      const refusals = [
        [refundOf(account, "b", 19), new RefundExceedsCharge({ reference: "job", credits: 19, refundable: 18 })],
        [
          { ...refundOf(account, "b", 1), reference: "free" },
          new RefundExceedsCharge({ reference: "free", credits: 1, refundable: 0 })
        ],
        [{ ...refundOf(account, "b", 1), reference: "quota" }, new IndivisibleCharge({ reference: "quota" })],
        [{ ...refundOf(account, "b", 1), reference: "none" }, new UnknownCharge({ reference: "none" })]
      ] as const
      for (const [command, refusal] of refusals) {
        assert.deepStrictEqual(yield* refusalOf(ledger.refund(command)), refusal)
      }
      yield* ledger.refund(refundOf(account, "all that is left", 18))
      assert.deepStrictEqual(
        yield* refusalOf(ledger.refund(refundOf(account, "more", 1))),
        new RefundExceedsCharge({ reference: "job", credits: 1, refundable: 0 })
      )
      yield* ledger.refund({ account, reference: "quota", at: noon })
      const { credits, quotaUsed } = yield* ledger.balances(account, noon)
      assert.deepStrictEqual([credits, quotaUsed.get("image") ?? 0], [30, 0])
    }))

  test("are listed with their charge, and not with charges whose references begin like it", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account } = yield* openAccount(24)
      // In the order of bytes, the second one is between the charge and its parts.
      for (const reference of ["job 2", "job\t", "job\v"]) yield* ledger.charge(chargeOf(account, reference, 1))
      yield* ledger.refund(refundOf(account, "part", 6))
      yield* ledger.refund({ ...refundOf(account, "part", 1), reference: "job\t" })
      yield* ledger.refund({ account, reference: "job", at: noon })
      const listed = yield* ledger.entries({ account, reference: "job" })
      assert.deepStrictEqual(listed.map(({ amount, kind, part, reference }) => [kind, reference, part, amount]), [
        ["refund", "job", undefined, 18],
        ["refund", "job", "part", 6],
        ["charge", "job", undefined, 24]
      ])
      assert.deepStrictEqual(listed.map(({ reverses }) => reverses), [listed[2]!.id, listed[2]!.id, undefined])
    }))
}

/** Registers tests of expired lots, and of decisions. */
export const expiredPartTests = (test: Register): void => {
  test("open a new lot for the credits whose lot has expired, with the same restrictions", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* accepted(ledger.grantAll([
        grantOf(account, 10, {
          reference: "a",
          expiresAt: after({ days: 1 }),
          purpose: "image",
          labels: ["watermark"]
        }),
        grantOf(account, 10, { reference: "b", expiresAt: after({ days: 9 }) })
      ]))
      yield* ledger.charge(chargeOf(account, "job", 14, { purpose: "image" }))
      const at = after({ days: 1 })
      yield* ledger.refund({ ...refundOf(account, "one", 6), at })
      yield* ledger.refund({ ...refundOf(account, "two", 3), at: after({ days: 2 }) })
      const { lots } = yield* ledger.balances(account, after({ days: 2 }))
      assert.deepStrictEqual(
        lots.map(({ expiresAt, kind, labels, purpose, remaining }) => ({
          kind,
          remaining,
          expiresAt,
          purpose,
          labels
        })),
        [
          { kind: "plan", remaining: 10, expiresAt: after({ days: 9 }), purpose: undefined, labels: [] },
          { kind: "refund", remaining: 2, expiresAt: after({ days: 31 }), purpose: "image", labels: ["watermark"] },
          { kind: "refund", remaining: 3, expiresAt: after({ days: 32 }), purpose: "image", labels: ["watermark"] }
        ]
      )
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))

  test("are decided on books, before and after they are saved", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { atomically } = yield* UnitOfWork
      const { account } = yield* openAccount(20)
      yield* atomically(Effect.gen(function*() {
        const charges = ["job", "next"].map((reference) => ({ account, reference }))
        let books = yield* ledger.load({ charges, at: noon })
        books = adopt(Books.charge(books, chargeOf(account, "next", 10)))
        books = adopt(Books.refund(books, { ...refundOf(account, "a", 4), reference: "next" }))
        books = yield* ledger.save(adopt(Books.refund(books, refundOf(account, "a", 5))))
        assert.isTrue(Result.isFailure(Books.refund(books, { ...refundOf(account, "b", 7), reference: "next" })))
        yield* ledger.save(adopt(Books.refund(books, { ...refundOf(account, "b", 6), reference: "next" })))
      }))
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 15)
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))
}

/** Registers tests of concurrent refunds. */
export const concurrentPartTests = (test: Register): void => {
  test("refund exactly 100 credits of a charge of 100 when 300 refunds of 1 run at the same time", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* accepted(ledger.grantAll(
        times(4).map((n) => grantOf(account, 25, { reference: `${n}`, expiresAt: after({ days: n + 1 }) }))
      ))
      yield* ledger.charge(chargeOf(account, "job", 100))
      // Each part is requested twice, on its own and in a set.
      const isRefunded = (n: number) => {
        const part = refundOf(account, `${n % 150}`, 1)
        return n < 150
          ? Effect.map(Effect.result(ledger.refund(part)), isDone)
          : Effect.map(ledger.refundAll([part]), ([result]) => isDone(result!))
      }
      const results = yield* concurrently(times(300).map(isRefunded))
      assert.strictEqual(results.filter((isRefunded) => isRefunded).length, 100)
      assert.deepStrictEqual(yield* ledger.verify({ account }), {
        accounts: 1,
        totals: { granted: 100, remaining: 100, held: 0, consumed: 0, expired: 0 },
        discrepancies: [],
        next: undefined
      })
      assert.isTrue((yield* ledger.trialBalance).balanced)
    }))

  test("never exceed the charge together with refunds of the rest that run at the same time", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 100))
      yield* accepted(ledger.chargeAll(times(20).map((n) => chargeOf(account, `${n}`, 5))))
      const racing = yield* concurrently(
        times(100).map((n) => {
          const reference = `${n % 20}`
          return Effect.result(
            n % 3 === 0
              ? ledger.refund({ account, reference, at: noon })
              : ledger.refund({ ...refundOf(account, `${n}`, 2), reference })
          )
        })
      )
      const rest = yield* ledger.refundAll(times(20).map((n) => ({ account, reference: `${n}`, at: noon })))
      assert.strictEqual(creditsOf([...racing, ...rest]), 100)
      const { discrepancies, totals } = yield* ledger.verify({ account })
      assert.deepStrictEqual(discrepancies, [])
      assert.deepStrictEqual(totals, { granted: 100, remaining: 100, held: 0, consumed: 0, expired: 0 })
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The credits that the refunds returned. */
const creditsOf = (results: ReadonlyArray<Result.Result<Refunded, unknown>>) =>
  results.reduce(
    (sum, result) =>
      sum + (Result.isSuccess(result) && result.success._tag === "Refunded" ? result.success.credits : 0),
    0
  )

const isDone = (result: Result.Result<Refunded, unknown>) =>
  Result.isSuccess(result) && result.success._tag === "Refunded"
