/** Reads the balances of an account. */
import { type DateTime, Effect, Result } from "effect"
import { LedgerError } from "../LedgerError.ts"
import type { LedgerStore } from "../LedgerStore.ts"
import type { Lot } from "../Lot.ts"
import type { ChargeCommand } from "./commands.ts"
import * as Day from "./Day.ts"
import { isSpendable, spendingOrder } from "./lots.ts"
import * as Payments from "./payments.ts"

/** Finds live lots and the counters of the day. */
export const findBalances = Effect.fnUntraced(function*({ account, at, lotsMax, store }: BalancesRequest) {
  const day = Day.of(at)
  const { lots, openHolds, quotas } = yield* store.findBalances({ account, at, day, lotsMax })
  const spendable = lots.filter((lot) => isSpendable(lot.kind))
  return {
    account,
    lots: lots.toSorted(spendingOrder),
    credits: sumOf(spendable),
    creditsImagesOnly: sumOf(spendable.filter((lot) => lot.imagesOnly)),
    held: openHolds[0]?.credits ?? 0,
    day,
    resetsAt: Day.endOf(at),
    quotaUsed: new Map(quotas.map(({ kind, used }) => [kind, used]))
  }
})

/** Fails with the refusal of a charge, by the balances of its account. */
export const check = Effect.fnUntraced(
  function*({ amount, ...request }: BalancesRequest & Omit<ChargeCommand, "reference">) {
    const { lots, quotaUsed } = yield* findBalances(request)
    const payment: Result.Result<unknown, LedgerError["reason"]> = amount._tag === "Credits"
      ? Payments.payFrom(lots, amount, request.at)
      : Payments.countTo(quotaUsed.get(amount.kind) ?? 0, amount, request.at)
    if (Result.isFailure(payment)) return yield* new LedgerError({ reason: payment.failure })
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface BalancesRequest {
  readonly account: string
  readonly at: DateTime.Utc
  readonly lotsMax: number
  readonly store: LedgerStore["Service"]
}

const sumOf = (lots: ReadonlyArray<Lot>): number => lots.reduce((sum, lot) => sum + lot.remaining, 0)
