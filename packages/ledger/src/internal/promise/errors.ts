/** The refusals of the ledger as errors of JavaScript. */
import { errorsByTag, errorsOf } from "@kinora/persistence/PromiseApi"
import { DateTime } from "effect"
import type { LedgerErrorReason } from "../../LedgerError.ts"
import type * as Refusal from "../reasons.ts"

/** The ledger refused a call. Nothing was changed. */
export abstract class LedgerError extends Error {
  /** Names the refusal, for programs. */
  abstract readonly code: string
}

const define = errorsOf(LedgerError)

/** The lots that may pay hold less than the price. Fields: `required`, `available`. */
export class InsufficientCreditsError extends define(
  "insufficient_credits",
  ({ available, required }: Refusal.InsufficientCredits) =>
    `The price is ${required} credits, and the account has ${available}`
) {}

/**
 * Less is left of the quota of the UTC day than the charge counts. Fields: `kind`, `limit`, `used`, `required`, `available`,
 * `resetsAt`.
 */
export class QuotaExceededError extends define(
  "quota_exceeded",
  ({ available, kind, limit, required, resetsAt }: Refusal.QuotaExceeded) =>
    `The price is ${required} of the quota "${kind}", which has ${available} of ${limit} left until ${
      DateTime.formatIso(resetsAt)
    }`
) {}

/** The account was charged for this reference before. A refund does not free the reference. Field: `reference`. */
export class AlreadyChargedError extends define(
  "already_charged",
  ({ reference }: Refusal.AlreadyCharged) => `The account was charged for "${reference}" before`
) {}

/** The account was never charged for this reference. Field: `reference`. */
export class UnknownChargeError extends define(
  "unknown_charge",
  ({ reference }: Refusal.UnknownCharge) => `The account was never charged for "${reference}"`
) {}

/** Less is left of the charge than the part to refund. Fields: `reference`, `credits`, `refundable`. */
export class RefundExceedsChargeError extends define(
  "refund_exceeds_charge",
  ({ credits, reference, refundable }: Refusal.RefundExceedsCharge) =>
    `The refund of ${credits} credits exceeds the ${refundable} that are left of the charge for "${reference}"`
) {}

/** The charge counted to a quota, of which no part can be refunded. Field: `reference`. */
export class IndivisibleChargeError extends define(
  "indivisible_charge",
  ({ reference }: Refusal.IndivisibleCharge) =>
    `The charge for "${reference}" counted to a quota, of which no part can be refunded`
) {}

/** The lot to grant has already expired. Field: `expiresAt`. */
export class GrantExpiredError extends define(
  "grant_expired",
  ({ expiresAt }: Refusal.GrantExpired) => `The lot would have expired at ${DateTime.formatIso(expiresAt)}`
) {}

/** The account has no lot with this id. Field: `lot`. */
export class UnknownLotError
  extends define("unknown_lot", ({ lot }: Refusal.UnknownLot) => `The account has no lot ${lot}`)
{}

/** The account has or had a hold with this reference. Fields: `reference`, `credits`, `expiresAt`, `state`. */
export class AlreadyHeldError extends define(
  "already_held",
  ({ credits, reference, state }: Refusal.AlreadyHeld) =>
    `The account has a hold of ${credits} credits for "${reference}", which is ${state}`
) {}

/** The hold would have expired already. Field: `expiresAt`. */
export class HoldExpiredError extends define(
  "hold_expired",
  ({ expiresAt }: Refusal.HoldExpired) => `The hold would have expired at ${DateTime.formatIso(expiresAt)}`
) {}

/** The account has as many open holds as it may have. Field: `limit`. */
export class TooManyHoldsError extends define(
  "too_many_holds",
  ({ limit }: Refusal.TooManyHolds) => `The account has ${limit} open holds, which is the maximum`
) {}

/** The account never had a hold with this reference. Field: `reference`. */
export class UnknownHoldError extends define(
  "unknown_hold",
  ({ reference }: Refusal.UnknownHold) => `The account never had a hold for "${reference}"`
) {}

/** The hold has ended, so it can be neither captured nor released. Fields: `reference`, `state`. */
export class HoldEndedError extends define(
  "hold_ended",
  ({ reference, state }: Refusal.HoldEnded) => `The hold for "${reference}" has ended: it is ${state}`
) {}

/** The hold has fewer credits than the capture would charge. Fields: `reference`, `credits`, `held`. */
export class CaptureExceedsHoldError extends define(
  "capture_exceeds_hold",
  ({ credits, held, reference }: Refusal.CaptureExceedsHold) =>
    `The capture of ${credits} credits exceeds the ${held} of the hold for "${reference}"`
) {}

/** The hold was captured before, with other credits. Fields: `reference`, `credits`, `captured`. */
export class CaptureDiffersError extends define(
  "capture_differs",
  ({ captured, credits, reference }: Refusal.CaptureDiffers) =>
    `The capture of ${credits} credits differs from the earlier one of ${captured} of the hold for "${reference}"`
) {}

/** Returns the error that a call throws for a refusal. */
export const errorOf = errorsByTag<LedgerErrorReason, LedgerError>({
  InsufficientCredits: InsufficientCreditsError,
  QuotaExceeded: QuotaExceededError,
  AlreadyCharged: AlreadyChargedError,
  UnknownCharge: UnknownChargeError,
  RefundExceedsCharge: RefundExceedsChargeError,
  IndivisibleCharge: IndivisibleChargeError,
  GrantExpired: GrantExpiredError,
  UnknownLot: UnknownLotError,
  AlreadyHeld: AlreadyHeldError,
  HoldExpired: HoldExpiredError,
  TooManyHolds: TooManyHoldsError,
  UnknownHold: UnknownHoldError,
  HoldEnded: HoldEndedError,
  CaptureExceedsHold: CaptureExceedsHoldError,
  CaptureDiffers: CaptureDiffersError
})
