/** Reads the balances of an account. */
import { DateTime, Effect, Result } from "effect"
import { LedgerError, type LedgerErrorReason } from "../LedgerError.ts"
import type { LedgerStore } from "../LedgerStore.ts"
import type { Lot } from "../Lot.ts"
import type { ChargeCommand } from "./commands.ts"
import * as Day from "./Day.ts"
import * as Lots from "./lots.ts"
import * as Payments from "./payments.ts"

/** The balances of an account. */
export interface Balances {
  readonly account: string
  /** Lots that are not empty and have not expired, in spending order, including those of restricted kinds. */
  readonly lots: ReadonlyArray<Lot>
  /** Credits that charges can spend: those of all lots but the ones of restricted kinds, without held credits. */
  readonly credits: number
  /** The parts of `credits` in lots with a purpose, by purpose. Other purposes are missing. */
  readonly creditsByPurpose: ReadonlyMap<string, number>
  /** Credits of open holds, including those that have expired and are not returned yet. */
  readonly held: number
  /** The UTC day of `quotaUsed`. */
  readonly day: Day.Day
  /** The end of that day: the next 00:00 UTC. */
  readonly resetsAt: DateTime.Utc
  /** The counts of the day, by quota. Quotas without charges are missing. */
  readonly quotaUsed: ReadonlyMap<string, number>
}

/** Finds live lots and the counters of the day. */
export const findBalances = (request: BalancesRequest) => Effect.map(find(request), ({ balances }) => balances)

/** Fails with the refusal of a charge, by the balances of its account. */
export const check = Effect.fnUntraced(
  function*({ amount, ...request }: BalancesRequest & Omit<ChargeCommand, "reference">) {
    const { at, balances: { lots, quotaUsed } } = yield* find(request)
    const payment: Result.Result<unknown, LedgerErrorReason> = amount._tag === "Credits"
      ? Payments.payFrom(request.lotRules, lots, amount, at)
      : Payments.countTo(quotaUsed.get(amount.kind) ?? 0, amount, at)
    if (Result.isFailure(payment)) return yield* new LedgerError({ reason: payment.failure })
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Finds balances. Returns them with their time by the clock of the storage, which decides on charges (`storageTime`). */
const find = Effect.fnUntraced(function*({ account, lotRules, lotsMax, store, ...request }: BalancesRequest) {
  const { aheadMillis = 0, lots, openHolds, quotas } = yield* store.findBalances({
    account,
    at: request.at,
    day: Day.of(request.at),
    lotsMax
  })
  const at = DateTime.add(request.at, { milliseconds: aheadMillis })
  const day = Day.of(at)
  const spendable = lots.filter(({ kind }) => !Lots.isRestricted(lotRules, kind))
  const balances: Balances = {
    account,
    lots: lots.toSorted(lotRules.spendingOrder),
    credits: sumOf(spendable),
    creditsByPurpose: sumsByPurpose(spendable),
    held: openHolds[0]?.credits ?? 0,
    day,
    resetsAt: Day.endOf(at),
    quotaUsed: new Map(quotas.filter((count) => count.day === day).map(({ kind, used }) => [kind, used]))
  }
  return { at, balances }
})

interface BalancesRequest {
  readonly account: string
  readonly at: DateTime.Utc
  readonly lotRules: Lots.LotRules
  readonly lotsMax: number
  readonly store: LedgerStore["Service"]
}

const sumOf = (lots: ReadonlyArray<Lot>): number => lots.reduce((sum, lot) => sum + lot.remaining, 0)

const sumsByPurpose = (lots: ReadonlyArray<Lot>): ReadonlyMap<string, number> => {
  const byPurpose = Map.groupBy(lots, ({ purpose }) => purpose)
  return new Map(
    Array.from(byPurpose).flatMap(([purpose, lots]) => purpose === undefined ? [] : [[purpose, sumOf(lots)] as const])
  )
}
