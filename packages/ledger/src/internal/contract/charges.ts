/** Tests of charges. */
import { assert } from "@effect/vitest"
import { Effect, Result } from "effect"
import { Ledger } from "../../Ledger.ts"
import { bytesMax, depthMax, type Metadata } from "../metadata.ts"
import { AlreadyCharged, InsufficientCredits } from "../reasons.ts"
import { accepted, after, chargeOf, grantOf, holdOf, newAccount, noon, quotaChargeOf, refusalOf } from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of references. */
export const chargeTests = (test: Register): void => {
  test("checks a charge like it would be decided, and changes nothing", () =>
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

  test("charges a reference once, within a set and after a refund too", () =>
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

  test("separates the references of different accounts", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const [one, other] = [newAccount(), newAccount()]
      yield* accepted(ledger.grantAll([grantOf(one, 10), grantOf(other, 10)]))
      yield* accepted(ledger.chargeAll([chargeOf(one, "job", 1), chargeOf(other, "job", 2)]))
      yield* ledger.refund({ account: one, reference: "job", at: noon })
      assert.strictEqual((yield* ledger.balances(one, noon)).credits, 10)
      assert.strictEqual((yield* ledger.balances(other, noon)).credits, 8)
    }))
}

/** Registers tests of lots that may pay. */
export const paidByTests = (test: Register): void => {
  test("draws on lots of a restricted kind only for charges that allow it, and returns their labels", () =>
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

  test("takes nothing if the lots that may pay hold less than the price", () =>
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
}

/** Registers the test of metadata. */
export const metadataTests = (test: Register): void => {
  test("returns the metadata of each command, and ignores that of a repeated one", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      const account = newAccount()
      const metadata = (of: string): Metadata => ({
        of,
        ["__proto__"]: { toString: "name" },
        "naïve 🎈": { list: [1, -0.5, 1e21, "x", true, null, {}], ["__proto__"]: [] }
      })
      const repeated = <A, E, R>(call: (metadata: Metadata) => Effect.Effect<A, E, R>, of: string) =>
        Effect.andThen(call(metadata(of)), Effect.exit(call({ of: "a repetition" })))
      const job = { account, reference: "job", at: noon }
      yield* repeated((metadata) => ledger.grant(grantOf(account, 10, { metadata })), "grant")
      yield* repeated((metadata) => ledger.charge({ ...chargeOf(account, "job", 4), metadata }), "charge")
      const part = { reference: "part", credits: 1 }
      yield* repeated((metadata) => ledger.refund({ ...job, part, metadata }), "part")
      yield* repeated((metadata) => ledger.refund({ ...job, metadata }), "refund")
      yield* repeated((metadata) => ledger.hold({ ...holdOf(account, "held", 4), metadata }), "hold")
      yield* repeated((metadata) => ledger.capture({ ...job, reference: "held", metadata }), "capture")
      yield* repeated((metadata) => ledger.charge({ ...quotaChargeOf(account, "still", 1), metadata }), "still")
      yield* ledger.charge(chargeOf(account, "plain", 0))
      yield* ledger.charge({ ...chargeOf(account, "longest", 0), metadata: longest })
      yield* ledger.charge({ ...chargeOf(account, "nested", 0), metadata: nested(depthMax) })
      const entries = yield* ledger.entries({ account })
      assert.deepStrictEqual(entries.map(({ kind, metadata }) => ({ kind, metadata })).toReversed(), [
        { kind: "grant", metadata: metadata("grant") },
        { kind: "charge", metadata: metadata("charge") },
        { kind: "refund", metadata: metadata("part") },
        { kind: "refund", metadata: metadata("refund") },
        { kind: "hold", metadata: metadata("hold") },
        { kind: "release", metadata: undefined },
        { kind: "charge", metadata: metadata("capture") },
        { kind: "charge", metadata: metadata("still") },
        { kind: "charge", metadata: undefined },
        { kind: "charge", metadata: longest },
        { kind: "charge", metadata: nested(depthMax) }
      ])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The text of the longest metadata. */
const text = "x".repeat(bytesMax - JSON.stringify({ text: "" }).length)

const longest: Metadata = { text }

const nested = (levels: number): Metadata => levels === 1 ? {} : { inside: nested(levels - 1) }
