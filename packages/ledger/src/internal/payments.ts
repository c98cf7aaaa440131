/** Whether the lots and counters of an account cover a charge, and how they pay it. Pure. */
import { type DateTime, Result } from "effect"
import type { Lot } from "../Lot.ts"
import * as Check from "./check.ts"
import type { ChargeCommand, LotPart, Price } from "./commands.ts"
import * as Day from "./Day.ts"
import * as Lots from "./lots.ts"
import { InsufficientCredits, QuotaExceeded } from "./reasons.ts"

/** The lots that pay a price. */
export interface Payment {
  readonly parts: ReadonlyArray<LotPart>
  /** The lots of `parts`, after they paid. */
  readonly paid: ReadonlyArray<Lot>
}

/** Takes a price from lots in spending order, all or nothing. */
export const payFrom = (
  rules: Lots.LotRules,
  lots: ReadonlyArray<Lot>,
  price: Price,
  at: DateTime.Utc
): Result.Result<Payment, InsufficientCredits> => {
  const { credits, kindsAllowed = [], purpose } = price
  Check.credits("A price", credits, 0)
  if (purpose !== undefined) Check.name("A purpose", purpose, 64)
  for (const kind of kindsAllowed) Lots.checkKind(rules, kind)
  const parts: Array<LotPart> = []
  const paid: Array<Lot> = []
  let missing = credits
  for (const lot of lots) {
    if (missing === 0) break
    if (lot.remaining === 0 || Lots.isExpired(lot, at) || !Lots.mayPay(rules, lot, price)) continue
    const part = Math.min(lot.remaining, missing)
    parts.push({ lot: lot.id, credits: part })
    paid.push({ ...lot, remaining: lot.remaining - part })
    missing -= part
  }
  return missing > 0
    ? Result.fail(new InsufficientCredits({ required: credits, available: credits - missing }))
    : Result.succeed({ parts, paid })
}

/** Returns the counter of a quota after one more charge, all or nothing. */
export const countTo = (
  used: number,
  { amount = 1, kind, limit }: QuotaAmount,
  at: DateTime.Utc
): Result.Result<number, QuotaExceeded> => {
  Check.name("A kind of quota", kind, 64)
  Check.credits("A quota's limit", limit, 0)
  Check.credits("The amount of a charge to a quota", amount, 1)
  const available = Math.max(0, limit - used)
  return amount > available
    ? Result.fail(new QuotaExceeded({ kind, limit, used, required: amount, available, resetsAt: Day.endOf(at) }))
    : Result.succeed(used + amount)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type QuotaAmount = Extract<ChargeCommand["amount"], { readonly _tag: "Quota" }>
