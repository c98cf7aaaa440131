import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Effect, type Layer } from "effect"
import { openAccount, refundOf } from "../src/internal/contract/chargedAccounts.ts"
import { noon } from "../src/internal/contract/commands.ts"
import { Ledger } from "../src/Ledger.ts"

/** The behaviour of refunds of parts of charges on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Partial refunds (${name})`, (it) => {
    it.effect("die if the credits or the reference of the part are invalid", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { account } = yield* openAccount(24)
        const parts = [["a", 0], ["a", -1], ["a", 1.5], ["", 1], ["a\nb", 1], ["a".repeat(129), 1]] as const
        for (const [reference, credits] of parts) {
          const exit = yield* Effect.exit(ledger.refund(refundOf(account, reference, credits)))
          assert.isTrue(exit._tag === "Failure" && exit.cause.reasons.some(({ _tag }) => _tag === "Die"))
        }
        assert.strictEqual((yield* ledger.balances(account, noon)).credits, 6)
      }))
  })
