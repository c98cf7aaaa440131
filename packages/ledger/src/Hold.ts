/**
 * Holds: credits that an account has reserved for a charge whose amount is not known yet.
 *
 *     open ──capture──▶ captured   charges at most the held credits, and returns the rest
 *       ├───release───▶ released   returns all of them
 *       └───sweep─────▶ expired    returns all of them, after `expiresAt`
 *
 * From `expiresAt` on, an open hold cannot be captured, whether or not it was returned.
 */
import type { DateTime } from "effect"
import type { TransactionId } from "./internal/ids.ts"

/** Credits that were taken from lots and not charged yet. */
export interface Hold {
  readonly account: string
  /** The reference of the command, and of the charge that captures the hold. */
  readonly reference: string
  /** Credits that the lots gave. 0 to 10^12. */
  readonly credits: number
  /** From this moment on the hold cannot be captured. */
  readonly expiresAt: DateTime.Utc
  readonly state: "open" | "captured" | "released" | "expired"
  /** The transaction that took the credits. */
  readonly openedBy: TransactionId
}
