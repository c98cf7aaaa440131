import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { DateTime, Effect, type Layer, Result } from "effect"
import type { Day } from "../src/internal/Day.ts"
import { creditsMax, Ledger } from "../src/Ledger.ts"
import {
  AlreadyCharged,
  GrantExpired,
  InsufficientCredits,
  QuotaExceeded,
  UnknownCharge,
  UnknownLot
} from "../src/LedgerError.ts"
import { accepted, after, chargeOf, grantOf, newAccount, noon, quotaChargeOf, refusalOf, times } from "./commands.ts"

/** The behaviour of `Ledger` on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Ledger (${name})`, (it) => {
    it.effect("opens a lot once per reference", () =>
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

    it.effect("returns the current lot when a grant is repeated, even if the lot is empty", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        const first = yield* ledger.grant(grantOf(account, 100))
        yield* ledger.charge(chargeOf(account, "job", 100))
        const second = yield* ledger.grant(grantOf(account, 7, { kind: "addon", purpose: "image" }))
        assert.deepStrictEqual(second.lot, { ...first.lot, remaining: 0 })
      }))

    it.effect("returns a lot as it was granted", () =>
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

    it.effect("checks a charge like it would be decided, and changes nothing", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* accepted(ledger.grantAll([
          grantOf(account, 5, { reference: "general" }),
          grantOf(account, 5, { reference: "images", purpose: "image" }),
          grantOf(account, 5, { reference: "trial", kind: "trial" }),
          grantOf(account, 5, { reference: "short", expiresAt: after({ hours: 1 }) })
        ]))
        const late = after({ hours: 2 })
        const amounts = [undefined, "video", "image"].flatMap((purpose) =>
          [[], ["trial"]].flatMap((kindsAllowed) =>
            [5, 6, 10, 11, 15, 16].map((credits) => ({ _tag: "Credits", credits, purpose, kindsAllowed }) as const)
          )
        )
        for (const [index, amount] of amounts.entries()) {
          const checked = yield* Effect.result(ledger.check({ account, amount, at: late }))
          const before = (yield* ledger.balances(account, late)).lots
          const charged = yield* Effect.result(ledger.charge({ account, reference: `${index}`, amount, at: late }))
          assert.deepStrictEqual(Result.map(charged, () => undefined), checked)
          if (Result.isSuccess(charged)) yield* ledger.refund({ account, reference: `${index}`, at: late })
          assert.deepStrictEqual((yield* ledger.balances(account, late)).lots, before)
        }
        const images = { account, amount: { _tag: "Quota", kind: "image", limit: 1 }, at: noon } as const
        yield* ledger.check(images)
        yield* ledger.check(images)
        yield* ledger.charge({ ...images, reference: "quota" })
        const reason = yield* refusalOf(ledger.check(images))
        assert.deepInclude(reason, { _tag: "QuotaExceeded", kind: "image", limit: 1, used: 1 })
      }))

    it.effect("adds large and small lots exactly", () =>
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

    it.effect("rejects a grant that has already expired", () =>
      Effect.gen(function*() {
        const { balances, grant } = yield* Ledger
        const account = newAccount()
        const refusal = yield* refusalOf(grant(grantOf(account, 5, { expiresAt: noon })))
        assert.deepStrictEqual(refusal, new GrantExpired({ expiresAt: noon }))
        assert.deepStrictEqual((yield* balances(account, noon)).lots, [])
      }))

    it.effect("takes one charge from several lots in spending order", () =>
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

    it.effect("draws on lots of a restricted kind only for charges that allow it, and returns their labels", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        const trial = { kind: "trial", labels: ["watermark"], expiresAt: after({ hours: 1 }) } as const
        yield* accepted(ledger.grantAll([
          grantOf(account, 10, { reference: "general" }),
          grantOf(account, 10, { ...trial, reference: "trial" })
        ]))
        const charge = (reference: string, credits: number, kindsAllowed: ReadonlyArray<string>) =>
          Effect.map(
            ledger.charge(chargeOf(account, reference, credits, { kindsAllowed })),
            (charged) => charged._tag === "ChargedCredits" ? charged.labels : undefined
          )
        assert.deepStrictEqual(yield* charge("without", 5, []), [])
        assert.deepStrictEqual(yield* charge("trial", 4, ["trial"]), ["watermark"])
        assert.deepStrictEqual(yield* charge("both", 7, ["trial"]), ["watermark"])
        assert.deepStrictEqual(yield* charge("rest", 4, ["trial"]), [])
        // The part that a trial lot paid stays a trial credit after the lot has expired.
        yield* ledger.refund({ account, reference: "trial", at: after({ hours: 2 }) })
        const { credits, lots } = yield* ledger.balances(account, after({ hours: 2 }))
        assert.strictEqual(credits, 0)
        assert.deepStrictEqual(lots.map(({ kind, labels, remaining }) => ({ kind, labels, remaining })), [
          { kind: "trial", remaining: 4, labels: ["watermark"] }
        ])
        assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
      }))

    it.effect("takes nothing if the lots that may pay hold less than the price", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* accepted(ledger.grantAll([
          grantOf(account, 10, { reference: "general" }),
          grantOf(account, 10, { reference: "images", purpose: "image" }),
          grantOf(account, 10, { reference: "trial", kind: "trial" }),
          grantOf(account, 10, { reference: "short", expiresAt: after({ hours: 1 }) })
        ]))
        const late = { at: after({ hours: 1 }) }
        assert.deepStrictEqual(
          yield* refusalOf(ledger.charge(chargeOf(account, "video", 11, late))),
          new InsufficientCredits({ required: 11, available: 10 })
        )
        assert.deepStrictEqual(
          yield* refusalOf(ledger.charge(chargeOf(account, "image", 21, { ...late, purpose: "image" }))),
          new InsufficientCredits({ required: 21, available: 20 })
        )
        const { credits, creditsByPurpose } = yield* ledger.balances(account, late.at)
        assert.deepStrictEqual([credits, creditsByPurpose], [20, new Map([["image", 10]])])
        yield* ledger.charge(chargeOf(account, "image", 20, { ...late, purpose: "image" }))
      }))

    it.effect("charges a reference once, within a set and after a refund too", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        yield* ledger.grant(grantOf(account, 10))
        const charge = chargeOf(account, "job", 4)
        const refusal = new AlreadyCharged({ reference: "job" })
        const [first, second] = yield* ledger.chargeAll([charge, charge])
        assert.isTrue(Result.isSuccess(first!))
        assert.deepStrictEqual(second, Result.fail(refusal))
        assert.deepStrictEqual(yield* refusalOf(ledger.charge(charge)), refusal)
        yield* ledger.refund(charge)
        assert.deepStrictEqual(yield* refusalOf(ledger.charge(charge)), refusal)
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 10)
      }))

    it.effect("separates the references of different accounts", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const [one, other] = [newAccount(), newAccount()]
        yield* accepted(ledger.grantAll([grantOf(one, 10), grantOf(other, 10)]))
        yield* accepted(ledger.chargeAll([chargeOf(one, "job", 1), chargeOf(other, "job", 2)]))
        yield* ledger.refund({ account: one, reference: "job", at: noon })
        assert.strictEqual((yield* ledger.balances(one, noon)).credits, 10)
        assert.strictEqual((yield* ledger.balances(other, noon)).credits, 8)
      }))

    it.effect("refunds each part to the lot that paid it, once", () =>
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

    it.effect("refunds a part whose lot has expired to a new lot of 30 days with the same restrictions", () =>
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

    it.effect("revokes what is left in a lot, once", () =>
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

    it.effect("rejects the revocation of a lot that the account does not have", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { lot } = yield* ledger.grant(grantOf(newAccount(), 10))
        const refusal = yield* refusalOf(ledger.revoke({ account: newAccount(), lot: lot.id, at: noon }))
        assert.deepStrictEqual(refusal, new UnknownLot({ lot: lot.id }))
        assert.strictEqual((yield* ledger.balances(lot.account, noon)).credits, 10)
      }))

    it.effect("rejects a refund without a charge", () =>
      Effect.gen(function*() {
        const { refund } = yield* Ledger
        assert.deepStrictEqual(
          yield* refusalOf(refund({ account: newAccount(), reference: "job", at: noon })),
          new UnknownCharge({ reference: "job" })
        )
      }))

    it.effect("records a charge of 0 credits and refunds it once", () =>
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

    it.effect("counts a quota per UTC day of the charge and rejects charges over the limit", () =>
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

    it.effect("lowers only the counter of the charge's day, once", () =>
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

    it.effect("books expired credits once when several sweeps run at the same time", () =>
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

    it.effect("lists the transactions of an account newest first, page by page", () =>
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
  })
