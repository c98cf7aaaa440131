/** Tests of the terms of lots. */
import { assert } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import { layerWith, Ledger, type LedgerOptions } from "../../Ledger.ts"
import { InsufficientCredits } from "../reasons.ts"
import { accepted, after, chargeOf, grantOf, holdOf, newAccount, noon, refusalOf } from "./commands.ts"
import type { Register } from "./tests.ts"

/** Registers tests of kinds. */
export const lotKindTests = (test: Register): void => {
  test("pay in the order of the ranks of their kinds, within one expiry and purpose", () =>
    Effect.gen(function*() {
      const ledger = yield* withKinds
      const account = newAccount()
      const grants = [
        grantOf(account, 1, { reference: "prepaid", kind: "prepaid" }),
        grantOf(account, 1, { reference: "gift", kind: "gift" }),
        grantOf(account, 1, { reference: "bonus", kind: bonus }),
        grantOf(account, 1, { reference: "for voices", kind: "returned", purpose: "voice" }),
        grantOf(account, 1, { reference: "soon", kind: "returned", expiresAt: after({ days: 1 }) })
      ]
      const granted = yield* accepted(ledger.grantAll(grants))
      const kindsAllowed = ["gift"]
      const charged = yield* ledger.charge(chargeOf(account, "job", 5, { purpose: "voice", kindsAllowed }))
      const nameOf = new Map(granted.map(({ lot }, n) => [lot.id, grants[n]!.reference]))
      assert.deepStrictEqual(
        charged._tag === "ChargedCredits" && charged.parts.map(({ lot }) => nameOf.get(lot)),
        ["soon", "for voices", "bonus", "gift", "prepaid"]
      )
    }))

  test("return credits of an expired lot as the kind of refunds, or as their own restricted kind", () =>
    Effect.gen(function*() {
      const ledger = yield* withKinds
      const account = newAccount()
      const terms = { purpose: "voice", labels: ["beta", "été"], expiresAt: after({ hours: 1 }) }
      yield* accepted(ledger.grantAll([
        grantOf(account, 5, { ...terms, reference: "gift", kind: "gift" }),
        grantOf(account, 5, { ...terms, reference: "prepaid", kind: "prepaid" })
      ]))
      const price = { purpose: "voice", kindsAllowed: ["gift"] }
      yield* ledger.charge(chargeOf(account, "charge", 4, price))
      yield* ledger.hold(holdOf(account, "hold", 6, price))
      const at = after({ hours: 2 })
      yield* ledger.refund({ account, reference: "charge", at })
      const captured = yield* ledger.capture({ account, reference: "hold", credits: 0, at })
      assert.deepStrictEqual(captured._tag === "Captured" && captured.labels, [])
      const { credits, creditsByPurpose, lots } = yield* ledger.balances(account, at)
      assert.sameDeepMembers(
        lots.map(({ kind, labels, purpose, remaining }) => ({ kind, labels, purpose, remaining })),
        [
          { kind: "gift", labels: terms.labels, purpose: "voice", remaining: 4 },
          { kind: "gift", labels: terms.labels, purpose: "voice", remaining: 1 },
          { kind: "returned", labels: terms.labels, purpose: "voice", remaining: 5 }
        ]
      )
      assert.deepStrictEqual([credits, creditsByPurpose], [5, new Map([["voice", 5]])])
      assert.deepStrictEqual((yield* ledger.verify({ account })).discrepancies, [])
    }))
}

/** Registers tests of purposes and labels. */
export const purposeTests = (test: Register): void => {
  test("with a purpose pay only for charges and holds with this purpose", () =>
    Effect.gen(function*() {
      const ledger = yield* withKinds
      const account = newAccount()
      yield* accepted(ledger.grantAll([
        grantOf(account, 3, { reference: "general", kind: "prepaid" }),
        grantOf(account, 3, { reference: "voices", kind: "prepaid", purpose: "voice" }),
        grantOf(account, 3, { reference: "images", kind: "prepaid", purpose: "image" })
      ]))
      const { credits, creditsByPurpose } = yield* ledger.balances(account, noon)
      assert.deepStrictEqual([credits, creditsByPurpose], [9, new Map([["image", 3], ["voice", 3]])])
      for (const [purpose, available] of [["video", 3], [undefined, 3], ["voice", 6]] as const) {
        const refusal = new InsufficientCredits({ required: 7, available })
        assert.deepStrictEqual(yield* refusalOf(ledger.charge(chargeOf(account, "job", 7, { purpose }))), refusal)
        assert.deepStrictEqual(yield* refusalOf(ledger.hold(holdOf(account, "job", 7, { purpose }))), refusal)
      }
      yield* ledger.hold(holdOf(account, "voice", 6, { purpose: "voice" }))
      assert.strictEqual((yield* ledger.balances(account, noon)).credits, 3)
    }))

  test("return the labels of all lots that paid, each once", () =>
    Effect.gen(function*() {
      const ledger = yield* withKinds
      const account = newAccount()
      const lot = (day: number, labels?: ReadonlyArray<string>) =>
        grantOf(account, 1, { reference: `${day}`, kind: "prepaid", expiresAt: after({ days: day }), labels })
      yield* accepted(
        ledger.grantAll([lot(1, ["b", "a"]), lot(2), lot(3, ["a", "c"]), lot(4, ["d"]), lot(5), lot(6, ["e"])])
      )
      const charged = yield* ledger.charge(chargeOf(account, "job", 3))
      assert.deepStrictEqual(charged._tag === "ChargedCredits" && charged.labels, ["b", "a", "c"])
      yield* ledger.hold(holdOf(account, "hold", 3))
      const captured = yield* ledger.capture({ account, reference: "hold", credits: 2, at: noon })
      assert.deepStrictEqual(captured._tag === "Captured" && captured.labels, ["d"])
    }))

  test("of one set are decided in order", () =>
    Effect.gen(function*() {
      const ledger = yield* withKinds
      const account = newAccount()
      yield* ledger.grant(grantOf(account, 2, { kind: "gift" }))
      const results = yield* ledger.chargeAll([
        chargeOf(account, "a", 1),
        chargeOf(account, "b", 1, { kindsAllowed: ["gift"] }),
        chargeOf(account, "c", 2, { kindsAllowed: ["gift"] })
      ])
      assert.deepStrictEqual(results.map(Result.isSuccess), [false, true, false])
    }))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const bonus = "bonus: “année”"

const options: LedgerOptions = {
  lotKinds: {
    prepaid: { rank: 10 },
    "bonus: “année”": { rank: -1 },
    gift: { rank: 0, restricted: true },
    returned: { rank: 20 }
  },
  refundKind: "returned"
}

/** A ledger with kinds of its own. */
const withKinds = Effect.map(Layer.build(Layer.fresh(layerWith(options))), (services) => Context.get(services, Ledger))
