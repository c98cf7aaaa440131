/** Names of the books that entries move amounts between. */
import type { Day } from "./Day.ts"
import type { LotId } from "./ids.ts"

/** One side of an entry: a lot by its id, or a named book. */
export type Book = LotId | `source:${string}` | HoldBook | "consumed" | "expired" | "allowance" | QuotaBook

/** The book of the credits of one hold of an account. */
export type HoldBook = `held:${string}`

/** The book of one quota on one UTC day. */
export type QuotaBook = `quota:${string}:${Day}`

/** Returns the book of the hold with this reference. */
export const ofHold = (reference: string): HoldBook => `held:${reference}`

/** Returns the book that counts charges to the quota `kind` on `day`. */
export const ofQuota = (kind: string, day: Day): QuotaBook => `quota:${kind}:${day}`

/** Returns the quota and the day of a book that `ofQuota` named. */
export const toQuota = (book: QuotaBook): { readonly kind: string; readonly day: Day } => {
  const dayAt = book.lastIndexOf(":") + 1
  return { kind: book.slice("quota:".length, dayAt - 1), day: book.slice(dayAt) as Day } // written by `ofQuota`
}

/** Returns true if the book is a lot. */
export const isLot = (book: Book): book is LotId => book.startsWith("lot_")

/** Returns true if the book counts a quota. */
export const isQuota = (book: Book): book is QuotaBook => book.startsWith("quota:")

/** Returns true if the book has the credits of a hold. */
export const isHold = (book: Book): book is HoldBook => book.startsWith("held:")
