/** Lots: credits that are granted together, expire together and are spent in a fixed order. */
import type { DateTime } from "effect"
import type { LotId, TransactionId } from "./internal/ids.ts"

export { LotId } from "./internal/ids.ts"

/** Credits that were granted together. */
export interface Lot {
  readonly id: LotId
  readonly account: string
  /** The origin of the credits. Only charges with `trialAllowed` draw on `trial` lots. */
  readonly kind: "plan" | "addon" | "trial" | "refund"
  /** Credits that the lot was opened with, and the most that it can hold. */
  readonly granted: number
  /** Credits that are left: 0 to `granted`. */
  readonly remaining: number
  readonly openedAt: DateTime.Utc
  /** From this moment on the lot neither pays for charges nor takes refunds. */
  readonly expiresAt: DateTime.Utc
  /** Pays for image jobs only. */
  readonly imagesOnly: boolean
  /** Jobs that the lot pays for carry a watermark. A charge that the lot pays reports it; the ledger does not act on it. */
  readonly watermark: boolean
  /** The expiry was booked, so the lot takes no refunds, even from a host whose clock is behind. */
  readonly closed: boolean
  /** The transaction that opened the lot: a grant, or a refund of credits whose lot had expired. */
  readonly openedBy: TransactionId
}
