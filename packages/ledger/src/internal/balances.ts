/** Reads the balances of an account. */
import { type DateTime, Effect } from "effect"
import type { LedgerStore } from "../LedgerStore.ts"
import type { Lot } from "../Lot.ts"
import * as Day from "./Day.ts"
import { isSpendable, spendingOrder } from "./lots.ts"

/** Finds live lots and the counters of the day. */
export const findBalances = Effect.fnUntraced(function*({ account, at, lotsMax, store }: {
  readonly account: string
  readonly at: DateTime.Utc
  readonly lotsMax: number
  readonly store: LedgerStore["Service"]
}) {
  const day = Day.of(at)
  const { lots, quotas } = yield* store.findBalances({ account, at, day, lotsMax })
  const spendable = lots.filter((lot) => isSpendable(lot.kind))
  return {
    account,
    lots: lots.toSorted(spendingOrder),
    credits: sumOf(spendable),
    creditsImagesOnly: sumOf(spendable.filter((lot) => lot.imagesOnly)),
    day,
    resetsAt: Day.endOf(at),
    quotaUsed: new Map(quotas.map(({ kind, used }) => [kind, used]))
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const sumOf = (lots: ReadonlyArray<Lot>): number => lots.reduce((sum, lot) => sum + lot.remaining, 0)
