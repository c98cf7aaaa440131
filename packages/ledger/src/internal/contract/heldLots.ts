/** Tests of the lots that pay holds. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../Ledger.ts"
import { AlreadyCharged, HoldEnded, InsufficientCredits } from "../reasons.ts"
import { accepted, after, chargeOf, grantOf, holdOf, newAccount, noon, refusalOf } from "./commands.ts"
import { assertTotals, balancesOf, openAccount, sweep, totalsOf } from "./heldAccounts.ts"
import type { Register } from "./tests.ts"

/** Registers tests of holds and lots that have expired. */
export const expiredHoldTests = (test: Register): void => {
  test("are released, and make room for a charge, after they expired and before the sweep", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account } = yield* openAccount()
      const expiresAt = after({ hours: 1 })
      yield* accepted(ledger.holdAll([
        holdOf(account, "released", 12, { expiresAt }),
        holdOf(account, "charged", 5, { expiresAt })
      ]))
      const released = yield* ledger.release({ account, reference: "released", at: expiresAt })
      assert.strictEqual(released._tag, "Released")
      yield* ledger.charge(chargeOf(account, "charged", 25, { at: expiresAt }))
      const refused = yield* refusalOf(ledger.capture({ account, reference: "charged", at: expiresAt }))
      assert.deepStrictEqual(refused, new HoldEnded({ reference: "charged", state: "expired" }))
      // By a command with an earlier time, for which the hold is open.
      const charged = yield* refusalOf(ledger.capture({ account, reference: "charged", at: noon }))
      assert.deepStrictEqual(charged, new AlreadyCharged({ reference: "charged" }))
      yield* sweep(expiresAt)
      yield* assertTotals(account, { consumed: 25 })
    }))

  test("are paid by lots that have expired since, and what is left of those becomes new lots", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { account, lots: [a, b, c] } = yield* openAccount()
      yield* ledger.hold(holdOf(account, "job", 24, { expiresAt: after({ days: 7 }) }))
      const at = after({ days: 2 })
      yield* sweep(at)
      const captured = yield* ledger.capture({ account, reference: "job", credits: 13, at })
      if (captured._tag !== "Captured") return assert.fail(captured._tag)
      assert.deepStrictEqual(captured.parts, [{ lot: a!, credits: 10 }, { lot: b!, credits: 3 }])
      assert.deepStrictEqual(captured.returned.map(({ credits }) => credits), [7, 4])
      assert.strictEqual(captured.returned[1]!.lot, c)
      const { lots } = yield* ledger.balances(account, at)
      assert.deepStrictEqual(lots.map(({ expiresAt, kind, remaining }) => ({ kind, remaining, expiresAt })), [
        { kind: "plan", remaining: 10, expiresAt: after({ days: 3 }) },
        { kind: "refund", remaining: 7, expiresAt: after({ days: 32 }) }
      ])
      yield* ledger.refund({ account, reference: "job", at })
      yield* assertTotals(account, { consumed: 0 })
    }))
}

/** Registers tests of lots that are revoked or restricted. */
export const heldLotTests = (test: Register): void => {
  test("keep the credits of a lot that is revoked, and return them as a new lot", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const { lot } = yield* ledger.grant(grantOf(account, 10, { kind: "trial", labels: ["watermark"] }))
      yield* ledger.hold(holdOf(account, "job", 6, { kindsAllowed: ["trial"] }))
      assert.deepStrictEqual(yield* ledger.revoke({ account, lot: lot.id, at: noon }), { credits: 4 })
      const captured = yield* ledger.capture({ account, reference: "job", credits: 2, at: noon })
      if (captured._tag !== "Captured") return assert.fail(captured._tag)
      assert.deepStrictEqual([captured.labels, captured.parts], [["watermark"], [{ lot: lot.id, credits: 2 }]])
      const { lots } = yield* ledger.balances(account, noon)
      assert.deepStrictEqual(lots.map(({ kind, labels, remaining }) => ({ kind, labels, remaining })), [
        { kind: "trial", remaining: 4, labels: ["watermark"] }
      ])
      assert.deepStrictEqual(yield* totalsOf(account), {
        granted: 10,
        remaining: 4,
        held: 0,
        consumed: 2,
        expired: 4
      })
    }))

  test("draw on lots for images and trial lots only if they may", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* accepted(ledger.grantAll([
        grantOf(account, 1, { reference: "images", purpose: "image" }),
        grantOf(account, 1, { reference: "trial", kind: "trial" })
      ]))
      const refused = yield* refusalOf(ledger.hold(holdOf(account, "a", 1)))
      assert.deepStrictEqual(refused, new InsufficientCredits({ required: 1, available: 0 }))
      yield* ledger.hold(holdOf(account, "b", 2, { purpose: "image", kindsAllowed: ["trial"] }))
      assert.deepStrictEqual(yield* balancesOf(account), [0, 2])
    }))
}
