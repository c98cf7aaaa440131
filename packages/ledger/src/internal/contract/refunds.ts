/** Tests of refunds. */
import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Ledger } from "../../Ledger.ts"
import { UnknownCharge } from "../reasons.ts"
import { accepted, after, chargeOf, grantOf, newAccount, noon, refusalOf } from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of the lots to which refunds return. */
export const refundTests = (test: Register): void => {
  test("refunds each part to the lot that paid it, once", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const granted = yield* ledger.grantAll([
        grantOf(account, 10, { reference: "a", expiresAt: after({ days: 1 }) }),
        grantOf(account, 10, { reference: "b", expiresAt: after({ days: 2 }) })
      ])
      const [a, b] = granted.map((result) => Result.getOrThrow(result).lot.id)
      yield* ledger.charge(chargeOf(account, "job", 13))
      const refunded = yield* ledger.refund({ account, reference: "job", at: noon })
      const parts = [{ lot: a!, credits: 10 }, { lot: b!, credits: 3 }]
      assert.deepStrictEqual(refunded, { _tag: "Refunded", credits: 13, parts })
      assert.deepStrictEqual(
        yield* ledger.refund({ account, reference: "job", at: noon }),
        { _tag: "AlreadyRefunded" }
      )
      const { lots } = yield* ledger.balances(account, noon)
      assert.deepStrictEqual(lots.map(({ remaining }) => remaining), [10, 10])
    }))

  test("refunds a part whose lot has expired to a new lot of 30 days with the same restrictions", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* accepted(ledger.grantAll([
        grantOf(account, 10, { reference: "a", expiresAt: after({ days: 1 }), purpose: "image" }),
        grantOf(account, 10, { reference: "b", expiresAt: after({ days: 9 }) })
      ]))
      yield* ledger.charge(chargeOf(account, "job", 13, { purpose: "image" }))
      const at = after({ days: 1 })
      const refunded = yield* ledger.refund({ account, reference: "job", at })
      const { lots } = yield* ledger.balances(account, at)
      assert.deepStrictEqual(
        lots.map(({ expiresAt, kind, purpose, remaining }) => ({ expiresAt, kind, purpose, remaining })),
        [
          { kind: "plan", remaining: 10, expiresAt: after({ days: 9 }), purpose: undefined },
          { kind: "refund", remaining: 10, expiresAt: after({ days: 31 }), purpose: "image" }
        ]
      )
      assert.deepStrictEqual(
        refunded._tag === "Refunded" ? refunded.parts.map(({ lot }) => lot) : [],
        lots.map(({ id }) => id).toReversed()
      )
      yield* ledger.charge(chargeOf(account, "next", 20, { at, purpose: "image" }))
      yield* ledger.refund({ account, reference: "next", at })
      assert.strictEqual((yield* ledger.balances(account, at)).credits, 20)
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))
}

/** Registers tests of refunds of nothing. */
export const singleRefundTests = (test: Register): void => {
  test("rejects a refund without a charge", () =>
    Effect.gen(function*() {
      const { refund } = yield* Ledger
      assert.deepStrictEqual(
        yield* refusalOf(refund({ account: newAccount(), reference: "job", at: noon })),
        new UnknownCharge({ reference: "job" })
      )
    }))

  test("records a charge of 0 credits and refunds it once", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* ledger.charge(chargeOf(account, "free", 0))
      assert.strictEqual((yield* refusalOf(ledger.charge(chargeOf(account, "free", 0))))._tag, "AlreadyCharged")
      const refund = { account, reference: "free", at: noon }
      assert.strictEqual((yield* ledger.refund(refund))._tag, "Refunded")
      assert.strictEqual((yield* ledger.refund(refund))._tag, "AlreadyRefunded")
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))
}
