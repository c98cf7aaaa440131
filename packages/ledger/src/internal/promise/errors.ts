/** The refusals of the ledger as errors of JavaScript. */
import { DateTime } from "effect"
import type * as Refusal from "../../LedgerError.ts"

/** The ledger refused a call. Nothing was changed. */
export abstract class LedgerError extends Error {
  /** Names the refusal, for programs. */
  abstract readonly code: string
}

/** The lots that may pay hold less than the price. */
export class InsufficientCreditsError extends LedgerError {
  override readonly name = "InsufficientCreditsError"
  readonly code = "insufficient_credits"
  /** The price. */
  readonly required: number
  /** Credits in the lots that may pay. */
  readonly available: number

  constructor({ available, required }: Refusal.InsufficientCredits) {
    super(`The charge needs ${required} credits, and the account has ${available}`)
    this.required = required
    this.available = available
  }
}

/** The quota of the UTC day is used up. */
export class QuotaExceededError extends LedgerError {
  override readonly name = "QuotaExceededError"
  readonly code = "quota_exceeded"
  readonly kind: string
  readonly limit: number
  /** Charges of that day. */
  readonly used: number
  /** The next 00:00 UTC. */
  readonly resetsAt: Date

  constructor({ kind, limit, resetsAt, used }: Refusal.QuotaExceeded) {
    super(`The quota "${kind}" of ${limit} charges is used up until ${DateTime.formatIso(resetsAt)}`)
    this.kind = kind
    this.limit = limit
    this.used = used
    this.resetsAt = DateTime.toDateUtc(resetsAt)
  }
}

/** The account was charged for this reference before. A refund does not free the reference. */
export class AlreadyChargedError extends LedgerError {
  override readonly name = "AlreadyChargedError"
  readonly code = "already_charged"
  readonly reference: string

  constructor({ reference }: Refusal.AlreadyCharged) {
    super(`The account was charged for "${reference}" before`)
    this.reference = reference
  }
}

/** The account was never charged for this reference. */
export class UnknownChargeError extends LedgerError {
  override readonly name = "UnknownChargeError"
  readonly code = "unknown_charge"
  readonly reference: string

  constructor({ reference }: Refusal.UnknownCharge) {
    super(`The account was never charged for "${reference}"`)
    this.reference = reference
  }
}

/** The lot to grant has already expired. */
export class GrantExpiredError extends LedgerError {
  override readonly name = "GrantExpiredError"
  readonly code = "grant_expired"
  readonly expiresAt: Date

  constructor({ expiresAt }: Refusal.GrantExpired) {
    super(`The lot would have expired at ${DateTime.formatIso(expiresAt)}`)
    this.expiresAt = DateTime.toDateUtc(expiresAt)
  }
}

/** The account has no lot with this id. */
export class UnknownLotError extends LedgerError {
  override readonly name = "UnknownLotError"
  readonly code = "unknown_lot"
  readonly lot: string

  constructor({ lot }: Refusal.UnknownLot) {
    super(`The account has no lot ${lot}`)
    this.lot = lot
  }
}

/** Returns the error that a call throws for a refusal. */
export const errorOf = ({ reason }: Refusal.LedgerError): LedgerError => {
  switch (reason._tag) {
    case "InsufficientCredits":
      return new InsufficientCreditsError(reason)
    case "QuotaExceeded":
      return new QuotaExceededError(reason)
    case "AlreadyCharged":
      return new AlreadyChargedError(reason)
    case "UnknownCharge":
      return new UnknownChargeError(reason)
    case "GrantExpired":
      return new GrantExpiredError(reason)
    case "UnknownLot":
      return new UnknownLotError(reason)
  }
}
