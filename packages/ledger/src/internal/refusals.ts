/** The reasons to refuse a command, by its kind. */
import type {
  AlreadyCharged,
  AlreadyHeld,
  CaptureDiffers,
  CaptureExceedsHold,
  HoldEnded,
  HoldExpired,
  IndivisibleCharge,
  InsufficientCredits,
  QuotaExceeded,
  RefundExceedsCharge,
  TooManyHolds,
  UnknownCharge,
  UnknownHold
} from "./reasons.ts"

/** Reasons to refuse a charge. */
export type ChargeRefusal = InsufficientCredits | QuotaExceeded | AlreadyCharged | AlreadyHeld

/** Reasons to refuse a refund. */
export type RefundRefusal = UnknownCharge | RefundExceedsCharge | IndivisibleCharge

/** Reasons to refuse a hold. */
export type HoldRefusal = InsufficientCredits | AlreadyHeld | AlreadyCharged | HoldExpired | TooManyHolds

/** Reasons to refuse the capture of a hold. */
export type CaptureRefusal = UnknownHold | HoldEnded | CaptureExceedsHold | CaptureDiffers | AlreadyCharged

/** Reasons to refuse the release of a hold. */
export type ReleaseRefusal = UnknownHold | HoldEnded
