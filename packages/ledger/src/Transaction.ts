/**
 * The books: transactions that are only ever added, each made of entries that move
 * an amount from one book to another (D24).
 *
 *     grant    source:<kind>       → lot
 *     charge   lot                 → consumed      (one entry for each lot used)
 *              allowance           → quota:<kind>:<day>
 *     refund   consumed            → lot           (the same lots, or new ones)
 *              quota:<kind>:<day>  → allowance
 *     expire   lot                 → expired
 *
 * An entry has both sides, so that a transaction cannot be out of balance. What a
 * lot holds and what a day has used are the balances of their books.
 */
import { TypeId } from "@kinora/persistence"
import { type DateTime, Schema } from "effect"
import type { Day } from "./Day.ts"
import type { LotId, LotKind } from "./Lot.ts"

/** Codec and constructors of transaction ids, `txn_…` (D2). */
export const TransactionId = TypeId.define("txn", "TransactionId")
/** The id of a transaction. */
export type TransactionId = TypeId.Id<"TransactionId">

/** What a transaction does. */
export const TransactionKind = Schema.Literals(["grant", "charge", "refund", "expire"])
/** See the schema of the same name. */
export type TransactionKind = typeof TransactionKind.Type

/** One side of an entry: a lot by its id, or one of the named books. */
export type Book = LotId | `source:${LotKind}` | "consumed" | "expired" | "allowance" | QuotaBook

/** The book of one quota on one UTC day. */
export type QuotaBook = `quota:${string}:${Day}`

/** The book that counts charges to the quota `kind` on `day`. */
export const quotaBook = (kind: string, day: Day): QuotaBook => `quota:${kind}:${day}`

/** The quota and the day of a book that `quotaBook` named. */
export const quotaOfBook = (book: QuotaBook): { readonly kind: string; readonly day: Day } => {
  const dayAt = book.lastIndexOf(":") + 1
  return { kind: book.slice("quota:".length, dayAt - 1), day: book.slice(dayAt) as Day } // as `quotaBook` wrote it
}

/** A movement of `amount` (credits, or charges to a quota) between two books of one account. */
export interface Entry {
  readonly from: Book
  readonly to: Book
  /** At least 1. */
  readonly amount: number
}

/** Something that happened to an account, once for each kind and reference. */
export interface Transaction {
  readonly id: TransactionId
  readonly account: string
  readonly kind: TransactionKind
  /** The caller's name for it; of an expiry, the lot's id. Unique for account and kind. */
  readonly reference: string
  readonly at: DateTime.Utc
  /** The sum of the entries. A charge that costs nothing has none. */
  readonly amount: number
  /** Of a refund: the charge that it gives back, by exactly its amount. */
  readonly reverses: TransactionId | undefined
  readonly entries: ReadonlyArray<Entry>
}
