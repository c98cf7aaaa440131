/** Which lots pay, and in what order. */
import { type DateTime, Order } from "effect"
import type { Lot } from "../Lot.ts"

/** Returns true if the lot can no longer pay or take a refund at `at`. */
export const isExpired = (lot: Lot, at: DateTime.Utc): boolean =>
  lot.closed || lot.expiresAt.epochMilliseconds <= at.epochMilliseconds

/** Returns true if charges draw on lots of this kind. Only charges with `trialAllowed` draw on trial lots. */
export const isSpendable = (kind: Lot["kind"], trialAllowed = false): boolean => trialAllowed || kind !== "trial"

/**
 * The order in which lots pay: soonest expiry first. Within one expiry `imagesOnly`
 * lots come before general ones, then plan, refund, addon, trial, then the oldest lot.
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

const rankOfKind: Readonly<Record<Lot["kind"], number>> = { plan: 0, refund: 1, addon: 2, trial: 3 }
