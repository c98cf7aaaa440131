import { assert, layer } from "@effect/vitest"
import type { UnitOfWork } from "@kinora/persistence"
import { Effect, type Exit, type Layer } from "effect"
import {
  accepted,
  after,
  grantOf,
  holdOf,
  newAccount,
  noon,
  refusalOf,
  times
} from "../src/internal/contract/commands.ts"
import { HoldExpired } from "../src/internal/reasons.ts"
import { Ledger } from "../src/Ledger.ts"

/** The behaviour of holds on every backend. */
export const suite = <E>(name: string, backend: Layer.Layer<Ledger | UnitOfWork.UnitOfWork, E>) =>
  layer(backend)(`Holds (${name})`, (it) => {
    it.effect("last at most as long as the ledger allows, and not into the past", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { account } = yield* openAccount()
        const within = { account, credits: 1, at: noon }
        const { expiresAt } = yield* ledger.hold({ ...within, reference: "a", within: "7 days" })
        assert.deepStrictEqual(expiresAt, after({ days: 7 }))
        yield* ledger.hold(holdOf(account, "b", 1, { expiresAt: after({ days: 7 }) }))
        const tooLong = [
          ledger.hold({ ...within, reference: "c", within: "604800001 millis" }),
          ledger.hold(holdOf(account, "c", 1, { expiresAt: after({ days: 7, milliseconds: 1 }) }))
        ]
        for (const call of tooLong) assert.isTrue(isDefect(yield* Effect.exit(call)))
        assert.deepStrictEqual(
          yield* refusalOf(ledger.hold(holdOf(account, "c", 1, { expiresAt: noon }))),
          new HoldExpired({ expiresAt: noon })
        )
        assert.deepStrictEqual(yield* balancesOf(account), [28, 2])
      }))

    it.effect("die if their credits are invalid", () =>
      Effect.gen(function*() {
        const ledger = yield* Ledger
        const { account } = yield* openAccount()
        yield* ledger.hold(holdOf(account, "job", 1))
        for (const credits of [-1, 0.5]) {
          assert.isTrue(isDefect(yield* Effect.exit(ledger.hold(holdOf(account, "other", credits)))))
          assert.isTrue(isDefect(yield* Effect.exit(ledger.capture({ account, reference: "job", credits, at: noon }))))
        }
        assert.deepStrictEqual(yield* balancesOf(account), [29, 1])
      }))
  })

/** An account with three lots of 10 credits, in spending order, which expire after 1, 2 and 3 days. */
const openAccount = Effect.fnUntraced(function*() {
  const ledger = yield* Ledger
  const account = newAccount()
  const granted = yield* accepted(ledger.grantAll(
    times(3).map((n) => grantOf(account, 10, { reference: `${n}`, expiresAt: after({ days: n + 1 }) }))
  ))
  return { account, lots: granted.map(({ lot }) => lot.id) }
})

/** Spendable and held credits. */
const balancesOf = (account: string, at = noon) =>
  Ledger.use((ledger) => ledger.balances(account, at)).pipe(Effect.map(({ credits, held }) => [credits, held]))

const isDefect = (exit: Exit.Exit<unknown, unknown>): boolean =>
  exit._tag === "Failure" && exit.cause.reasons.some(({ _tag }) => _tag === "Die")
