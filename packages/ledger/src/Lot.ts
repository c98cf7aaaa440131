/** Lots: credits that were granted together, expire together and are spent in the order of D21. */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Order, Schema } from "effect"
import type { TransactionId } from "./Transaction.ts"

/** Codec and constructors of lot ids, `lot_…` (D2). */
export const LotId = TypeId.define("lot", "LotId")
/** The id of a lot. */
export type LotId = TypeId.Id<"LotId">

/** Where the credits of a lot come from. */
export const LotKind = Schema.Literals(["plan", "addon", "trial", "refund"])
/** See the schema of the same name. */
export type LotKind = typeof LotKind.Type

/** Credits that were granted together. */
export interface Lot {
  readonly id: LotId
  readonly account: string
  readonly kind: LotKind
  /** What the lot was opened with. It never holds more. */
  readonly granted: number
  /** What is left: at least 0, at most `granted`. */
  readonly remaining: number
  readonly openedAt: DateTime.Utc
  /** From this moment on the lot pays for nothing and takes nothing back. */
  readonly expiresAt: DateTime.Utc
  /** Pays for image jobs only. */
  readonly imagesOnly: boolean
  /** What it pays for carries a watermark. Only informs: the ledger does not act on it. */
  readonly watermark: boolean
  /** The expiry was booked. A host whose clock is behind must not fill the lot again. */
  readonly closed: boolean
  /** The transaction that opened the lot: a grant, or the refund of a part whose lot had expired. */
  readonly openedBy: TransactionId
}

/** Whether the lot can no longer pay or take back at `at`. */
export const isExpired = (lot: Lot, at: DateTime.Utc): boolean =>
  lot.closed || lot.expiresAt.epochMilliseconds <= at.epochMilliseconds

/** Whether charges draw on lots of this kind. Trial lots are shown, and never used by API jobs (D21). */
export const isSpendable = (kind: LotKind): boolean => kind !== "trial"

/**
 * The order in which lots are used (D21): soonest expiry first; at the same expiry
 * `images_only` before general, then plan, refund, addon, then the oldest.
 */
export const spendingOrder: Order.Order<Lot> = Order.combineAll([
  Order.mapInput(Order.Number, (lot: Lot) => lot.expiresAt.epochMilliseconds),
  Order.mapInput(Order.Number, (lot: Lot) => lot.imagesOnly ? 0 : 1),
  Order.mapInput(Order.Number, (lot: Lot) => rankOfKind[lot.kind]),
  Order.mapInput(Order.Number, (lot: Lot) => lot.openedAt.epochMilliseconds),
  Order.mapInput(Order.String, (lot: Lot) => lot.id)
])

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const rankOfKind: Readonly<Record<LotKind, number>> = { plan: 0, refund: 1, addon: 2, trial: 3 }
