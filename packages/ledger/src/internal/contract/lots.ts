/** Tests of lots. */
import { assert } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { Ledger } from "../../Ledger.ts"
import { creditsMax } from "../check.ts"
import { GrantExpired, UnknownLot } from "../reasons.ts"
import { accepted, after, chargeOf, grantOf, newAccount, noon, refusalOf, times } from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of grants. */
export const grantTests = (test: Register): void => {
  test("opens a lot once per reference", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const first = yield* ledger.grant(grantOf(account, 100))
      const second = yield* ledger.grant(grantOf(account, 100))
      assert.deepStrictEqual([first._tag, second._tag], ["Granted", "AlreadyGranted"])
      assert.strictEqual(first.lot.remaining, 100)
      assert.deepStrictEqual(second.lot, first.lot)
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 100)
    }))

  test("returns the current lot when a grant is repeated, even if the lot is empty", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const first = yield* ledger.grant(grantOf(account, 100))
      yield* ledger.charge(chargeOf(account, "job", 100))
      const second = yield* ledger.grant(grantOf(account, 7, { kind: "addon", purpose: "image" }))
      assert.deepStrictEqual(second.lot, { ...first.lot, remaining: 0 })
    }))

  test("returns a lot as it was granted", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const options = { kind: "trial", purpose: "image", labels: ["watermark"] } as const
      const { lot: { id } } = yield* ledger.grant(grantOf(account, 7, options))
      const { credits, lots } = yield* ledger.balances(account, noon)
      const [{ openedBy, ...lot }, ...others] = lots as [typeof lots[0] & {}]
      assert.deepStrictEqual(lot, {
        id,
        account,
        kind: "trial",
        granted: 7,
        remaining: 7,
        openedAt: noon,
        expiresAt: after({ days: 30 }),
        purpose: "image",
        labels: ["watermark"],
        closed: false
      })
      assert.match(openedBy, /^txn_/)
      assert.deepStrictEqual([others, credits], [[], 0])
    }))

  test("rejects a grant that has already expired", () =>
    Effect.gen(function*() {
      const { balances, grant } = yield* Ledger
      const account = newAccount()
      const refusal = yield* refusalOf(grant(grantOf(account, 5, { expiresAt: noon })))
      assert.deepStrictEqual(refusal, new GrantExpired({ expiresAt: noon }))
      assert.deepStrictEqual((yield* balances(account, noon)).lots, [])
    }))
}

/** Registers tests of the order in which lots pay. */
export const spendingTests = (test: Register): void => {
  test("adds large and small lots exactly", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      yield* accepted(ledger.grantAll([
        grantOf(account, 1, { reference: "small", expiresAt: after({ days: 1 }) }),
        grantOf(account, creditsMax, { reference: "large" })
      ]))
      yield* ledger.charge(chargeOf(account, "all but one", creditsMax))
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 1)
      assert.deepStrictEqual((yield* ledger.verify({ account })).totals, {
        granted: creditsMax + 1,
        remaining: 1,
        held: 0,
        consumed: creditsMax,
        expired: 0
      })
    }))

  test("takes one charge from several lots in spending order", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const soon = { expiresAt: after({ days: 1 }) }
      const grants = [
        grantOf(account, 10, { reference: "late", kind: "addon" }),
        grantOf(account, 10, { ...soon, reference: "addon", kind: "addon" }),
        grantOf(account, 10, { ...soon, reference: "plan-young", at: after({ hours: 1 }) }),
        grantOf(account, 10, { ...soon, reference: "plan-old" }),
        grantOf(account, 10, { ...soon, reference: "refund", kind: "refund" }),
        grantOf(account, 10, { ...soon, reference: "images", kind: "addon", purpose: "image" }),
        grantOf(account, 10, { reference: "trial", kind: "trial", expiresAt: after({ hours: 2 }) })
      ]
      const granted = yield* ledger.grantAll(grants)
      const lotOf = (reference: string) =>
        Result.getOrThrow(granted[grants.findIndex((grant) => grant.reference === reference)]!).lot.id
      const charge = chargeOf(account, "job", 55, { at: after({ hours: 1 }), purpose: "image" })
      const charged = yield* ledger.charge(charge)
      assert.deepStrictEqual(charged._tag === "ChargedCredits" ? charged.parts : [], [
        { lot: lotOf("images"), credits: 10 },
        { lot: lotOf("plan-old"), credits: 10 },
        { lot: lotOf("plan-young"), credits: 10 },
        { lot: lotOf("refund"), credits: 10 },
        { lot: lotOf("addon"), credits: 10 },
        { lot: lotOf("late"), credits: 5 }
      ])
    }))
}

/** Registers tests of revocations and expiry. */
export const revocationTests = (test: Register): void => {
  test("revokes what is left in a lot, once", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const { lot } = yield* ledger.grant(grantOf(account, 10, { reference: "a" }))
      yield* ledger.grant(grantOf(account, 5, { reference: "b" }))
      yield* ledger.charge(chargeOf(account, "job", 4))
      const revoke = ledger.revoke({ account, lot: lot.id, at: noon })
      const revoked = yield* Effect.all(Array.from({ length: 5 }, () => revoke), { concurrency: "unbounded" })
      assert.sameMembers(revoked.map(({ credits }) => credits), [0, 0, 0, 0, 6])
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 5)
      assert.strictEqual((yield* refusalOf(ledger.charge(chargeOf(account, "next", 6))))._tag, "InsufficientCredits")
      // As if the lot had expired: the part that it paid becomes a lot of 30 days.
      yield* ledger.refund({ account, reference: "job", at: noon })
      const { lots } = yield* ledger.balances(account, noon)
      assert.deepStrictEqual(lots.map(({ kind, remaining }) => [kind, remaining]), [["plan", 5], ["refund", 4]])
      const { discrepancies, totals } = yield* ledger.verify({ account })
      assert.deepStrictEqual(discrepancies, [])
      assert.deepInclude(totals, { granted: 15, remaining: 9, held: 0, consumed: 0, expired: 6 })
    }))

  test("rejects the revocation of a lot that the account does not have", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const { lot } = yield* ledger.grant(grantOf(newAccount(), 10))
      const refusal = yield* refusalOf(ledger.revoke({ account: newAccount(), lot: lot.id, at: noon }))
      assert.deepStrictEqual(refusal, new UnknownLot({ lot: lot.id }))
      assert.strictEqual((yield* ledger.balances(lot.account, noon)).credits, 10)
    }))

  test("books expired credits once when several sweeps run at the same time", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      // In the past, so that the lots of other tests have not expired.
      const long = (days: number) => DateTime.add(DateTime.makeUnsafe("2001-01-01T00:00:00Z"), { days })
      yield* accepted(ledger.grantAll(
        [1, 2, 3].map((day) => grantOf(account, 10, { reference: `${day}`, at: long(0), expiresAt: long(day) }))
      ))
      yield* accepted(ledger.chargeAll([
        chargeOf(account, "a", 10, { at: long(0) }),
        chargeOf(account, "b", 4, { at: long(0) })
      ]))
      assert.deepStrictEqual(yield* ledger.expire({ at: long(2), limit: 1 }), { lots: 1, credits: 0, holds: 0 })
      const sweeps = yield* Effect.all(times(4).map(() => ledger.expire({ at: long(2) })), { concurrency: 4 })
      assert.deepStrictEqual(sweeps.filter(({ lots }) => lots > 0), [{ lots: 1, credits: 6, holds: 0 }])
      const { discrepancies, totals } = yield* ledger.verify({ account })
      assert.deepStrictEqual(totals, { granted: 30, remaining: 10, held: 0, consumed: 14, expired: 6 })
      assert.deepStrictEqual(discrepancies, [])
      // A refund from a host whose clock is behind does not fill a closed lot.
      yield* ledger.refund({ account, reference: "b", at: long(1) })
      const { lots } = yield* ledger.balances(account, long(1))
      assert.deepStrictEqual(lots.map(({ kind, remaining }) => [kind, remaining]), [["plan", 10], ["refund", 4]])
    }))
}
