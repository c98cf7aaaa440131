/** Kinds, purposes and labels of lots, on every backend. */
import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Effect, type Layer } from "effect"
import type { GrantCommand } from "../src/Books.ts"
import { chargeOf, defectOf, grantOf, holdOf, newAccount, noon } from "../src/internal/contract/commands.ts"
import { labelsMax } from "../src/internal/lots.ts"
import { Ledger, type LedgerOptions } from "../src/Ledger.ts"

/** The options of the suite. */
export const options: LedgerOptions = {
  lotKinds: {
    prepaid: { rank: 10 },
    "bonus: “année”": { rank: -1 },
    gift: { rank: 0, restricted: true },
    returned: { rank: 20 }
  },
  refundKind: "returned"
}

/** The behaviour of lots of a ledger with `options`. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Terms of lots (${name})`, (it) => {
    it.effect("die if they are invalid, and change nothing", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const account = newAccount()
        const names = ["", "x".repeat(65), "a\0b", "a\nb", "\ud800"]
        const grants: ReadonlyArray<Partial<GrantCommand>> = [
          ...[...names, "plan", "constructor", "__proto__"].map((kind) => ({ kind })),
          ...names.map((purpose) => ({ kind: "prepaid", purpose })),
          ...names.map((label) => ({ kind: "prepaid", labels: [label] })),
          { kind: "prepaid", labels: ["twice", "twice"] },
          { kind: "prepaid", labels: Array.from({ length: labelsMax + 1 }, (_, n) => `${n}`) }
        ]
        for (const [n, terms] of grants.entries()) {
          assert.match(yield* defectOf(ledger.grant(grantOf(account, 1, { reference: `${n}`, ...terms }))), /must/)
        }
        for (const terms of [...names.map((purpose) => ({ purpose })), { kindsAllowed: ["trial"] }]) {
          assert.match(yield* defectOf(ledger.charge(chargeOf(account, "job", 0, terms))), /must/)
          assert.match(yield* defectOf(ledger.hold(holdOf(account, "job", 0, terms))), /must/)
        }
        assert.deepStrictEqual(yield* ledger.entries({ account }), [])
        // The longest names are stored as they are.
        const longest = {
          purpose: "é".repeat(64),
          labels: Array.from({ length: labelsMax }, (_, n) => `${n}`.repeat(64))
        }
        const { lot } = yield* ledger.grant(grantOf(account, 1, { kind: "prepaid", ...longest }))
        assert.deepInclude(lot, longest)
        assert.deepStrictEqual((yield* ledger.balances(account, noon)).lots, [lot])
      }))
  })
