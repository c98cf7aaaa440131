/** Whether the lots and counters of an account cover a charge, and how they pay it. Pure. */
import { type DateTime, Result } from "effect"
import { InsufficientCredits, QuotaExceeded } from "../LedgerError.ts"
import type { Lot } from "../Lot.ts"
import * as Check from "./check.ts"
import type { ChargeCommand, LotPart } from "./commands.ts"
import * as Day from "./Day.ts"
import { isExpired, isSpendable } from "./lots.ts"

/** The lots that pay a price. */
export interface Payment {
  readonly parts: ReadonlyArray<LotPart>
  /** The lots of `parts`, after they paid. */
  readonly paid: ReadonlyArray<Lot>
}

/** Takes a price from lots in spending order, all or nothing. */
export const payFrom = (
  lots: ReadonlyArray<Lot>,
  { credits, imagesOnlyAllowed, trialAllowed }: CreditsAmount,
  at: DateTime.Utc
): Result.Result<Payment, InsufficientCredits> => {
  Check.credits("A price", credits, 0)
  const parts: Array<LotPart> = []
  const paid: Array<Lot> = []
  let missing = credits
  for (const lot of lots) {
    if (missing === 0) break
    if (lot.remaining === 0 || !isSpendable(lot.kind, trialAllowed) || isExpired(lot, at)) continue
    if (lot.imagesOnly && !imagesOnlyAllowed) continue
    const part = Math.min(lot.remaining, missing)
    parts.push({ lot: lot.id, credits: part })
    paid.push({ ...lot, remaining: lot.remaining - part })
    missing -= part
  }
  return missing > 0
    ? Result.fail(new InsufficientCredits({ required: credits, available: credits - missing }))
    : Result.succeed({ parts, paid })
}

/** Returns the counter of a quota after one more charge. */
export const countTo = (
  used: number,
  { kind, limit }: QuotaAmount,
  at: DateTime.Utc
): Result.Result<number, QuotaExceeded> => {
  Check.name("A kind of quota", kind, 64)
  Check.credits("A quota's limit", limit, 0)
  return used >= limit
    ? Result.fail(new QuotaExceeded({ kind, limit, used, resetsAt: Day.endOf(at) }))
    : Result.succeed(used + 1)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type CreditsAmount = Extract<ChargeCommand["amount"], { readonly _tag: "Credits" }>
type QuotaAmount = Extract<ChargeCommand["amount"], { readonly _tag: "Quota" }>
