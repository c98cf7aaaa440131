/** Verifies accounts page by page. */
import { Effect } from "effect"
import type { LedgerStore } from "../LedgerStore.ts"
import type { Verification } from "./verification.ts"

/** Compares books and stored figures of one account, or of all accounts after `after`. */
export const verify = Effect.fnUntraced(function*({ account, accountsMax, after, discrepanciesMax, store }: {
  readonly account: string | undefined
  readonly accountsMax: number
  readonly after: string
  readonly discrepanciesMax: number
  readonly store: LedgerStore["Service"]
}) {
  let verification = nothingVerified
  let last = after
  while (true) {
    const room = Math.min(auditedMax, accountsMax - verification.accounts)
    // Finds one account more than there is room for, to learn whether any follow.
    const found = account === undefined ? yield* store.findAccounts(last, room + 1) : [account]
    const accounts = found.slice(0, room)
    last = accounts.at(-1) ?? last
    const { discrepancies, totals } = yield* store.audit({ accounts, discrepanciesMax })
    verification = {
      accounts: verification.accounts + accounts.length,
      totals: addTotals(verification.totals, totals),
      discrepancies: [...verification.discrepancies, ...discrepancies].slice(0, discrepanciesMax),
      next: found.length > accounts.length ? last : undefined
    }
    if (verification.next === undefined || verification.accounts === accountsMax) return verification
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The maximum number of accounts that one statement compares. */
const auditedMax = 100

type Totals = Verification["totals"]

const nothingVerified: Verification = {
  accounts: 0,
  totals: { granted: 0, remaining: 0, held: 0, consumed: 0, expired: 0 },
  discrepancies: [],
  next: undefined
}

const addTotals = (one: Totals, other: Totals): Totals => ({
  granted: one.granted + other.granted,
  remaining: one.remaining + other.remaining,
  held: one.held + other.held,
  consumed: one.consumed + other.consumed,
  expired: one.expired + other.expired
})
