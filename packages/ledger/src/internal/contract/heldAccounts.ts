/** Accounts with lots for holds and charges. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Ledger } from "../../Ledger.ts"
import { accepted, after, grantOf, newAccount, noon, times } from "./commands.ts"

/** An account with three lots of 10 credits, in spending order, which expire after 1, 2 and 3 days. */
export const openAccount = Effect.fnUntraced(function*() {
  const ledger = yield* Ledger
  const account = newAccount()
  const granted = yield* accepted(ledger.grantAll(
    times(3).map((n) => grantOf(account, 10, { reference: `${n}`, expiresAt: after({ days: n + 1 }) }))
  ))
  return { account, lots: granted.map(({ lot }) => lot.id) }
})

/** Spendable and held credits. */
export const balancesOf = (account: string, at = noon) =>
  Ledger.use((ledger) => ledger.balances(account, at)).pipe(Effect.map(({ credits, held }) => [credits, held]))

/** The totals of an account whose books are sound. */
export const totalsOf = Effect.fnUntraced(function*(account: string) {
  const { discrepancies, totals } = yield* (yield* Ledger).verify({ account })
  assert.deepStrictEqual(discrepancies, [])
  return totals
})

/** Asserts that the books of an account of `openAccount` are sound, and that its other credits are spendable. */
export const assertTotals = Effect.fnUntraced(function*(
  account: string,
  { consumed = 0, held = 0 }: { readonly consumed?: number; readonly held?: number }
) {
  const remaining = 30 - held - consumed
  assert.deepStrictEqual(yield* totalsOf(account), { granted: 30, remaining, held, consumed, expired: 0 })
})

/** Books all that has expired, also of other tests. */
export const sweep = Effect.fnUntraced(function*(at: typeof noon) {
  const { expire } = yield* Ledger
  let swept
  do {
    swept = yield* expire({ at })
  } while (swept.lots + swept.holds > 0)
})
