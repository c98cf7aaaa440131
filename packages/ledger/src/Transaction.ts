/**
 * The books: transactions that are appended and never changed. Each consists of
 * entries that move an amount from one book to another.
 *
 *     grant    source:<kind>       → lot
 *     charge   lot                 → consumed      (one entry per lot that pays)
 *              allowance           → quota:<kind>:<day>
 *     refund   consumed            → lot           (the same lots, or new ones; all or a part of a charge)
 *              quota:<kind>:<day>  → allowance
 *     expire   lot                 → expired
 *     hold     lot                 → held:<reference>  (one entry per lot that pays)
 *     release  held:<reference>    → lot               (the same lots, or new ones; all of a hold)
 *
 * The end of a hold is always a `release` of all its credits. A capture books a `charge` after it, which takes its credits
 * from the same lots.
 *
 * An entry has both sides, so a transaction is always balanced. The credits of a lot
 * and the counters of a day equal the balances of their books.
 */
import type { DateTime } from "effect"
import type { Book } from "./internal/Book.ts"
import type { TransactionId } from "./internal/ids.ts"
import type { Metadata } from "./internal/metadata.ts"

export { TransactionId } from "./internal/ids.ts"

/** A booked movement of one account. There is at most one per kind, reference and part. */
export interface Transaction {
  readonly id: TransactionId
  readonly account: string
  readonly kind: "grant" | "charge" | "refund" | "expire" | "hold" | "release"
  /** The reference of the command. For an expiry, the lot's id. */
  readonly reference: string
  /** For a refund of a part of a charge, the reference of that part. */
  readonly part: string | undefined
  readonly at: DateTime.Utc
  /** The sum of the entries. A charge of 0 credits has no entries. */
  readonly amount: number
  /** For a refund, the charge: its refunds do not exceed its amount. For a release, the hold. */
  readonly reverses: TransactionId | undefined
  /** The metadata of the command. */
  readonly metadata: Metadata | undefined
  readonly entries: ReadonlyArray<{
    readonly from: Book
    readonly to: Book
    /** Credits, or what counts to a quota. At least 1. */
    readonly amount: number
  }>
}
