/** Accounts of tests. */
import { Accounts } from "@kinora/accounts"
import { Ledger } from "@kinora/ledger"
import { UnitOfWork } from "@kinora/persistence"
import { DateTime, type Duration, Effect, Option, Redacted } from "effect"
import type { AccountOptions } from "../TestHostOptions.ts"

/** Makes a function that creates accounts with distinct email addresses and returns their keys. */
export const make = Effect.gen(function*() {
  const accounts = yield* Accounts.Accounts
  const ledger = yield* Ledger.Ledger
  const { atomically } = yield* UnitOfWork.UnitOfWork
  let opened = 0

  return Effect.fnUntraced(function*(options: AccountOptions) {
    opened++
    const {
      creditsPlan = "pro",
      credits = 1_000,
      email = `account-${opened}@example.com`,
      lasts = year,
      studio = "pro"
    } = options
    const at = yield* DateTime.now
    const periodEnd = DateTime.addDuration(at, lasts)
    const planOf = <Tier extends string>(tier: Tier | null) =>
      Option.map(Option.fromNullOr(tier), (tier) => ({ tier, periodEnd, autoRenew: false }))

    const { id } = yield* accounts.create({ email })
    yield* accounts.setPlan(id, "studio", planOf(studio))
    yield* accounts.setPlan(id, "credits", planOf(creditsPlan))
    if (credits > 0) {
      yield* ledger.grant({ account: id, reference: "start", kind: "addon", credits, expiresAt: periodEnd, at }).pipe(
        // `lasts` is negative or 0.
        Effect.catchTag("LedgerError", Effect.die)
      )
    }
    const { key } = yield* accounts.createKey(id, "test")
    return { id, email, apiKey: Redacted.value(key) }
  }, atomically)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const year: Duration.Input = { days: 365 }
