/** Closes lots: what is left in them is booked as expired. */
import type { DateTime } from "effect"
import type { Books } from "../Books.ts"
import type { Lot } from "../Lot.ts"
import * as State from "./booksState.ts"

/** Books the credits that are left in an open lot of the books as expired, and closes the lot. */
export const closeLot = (books: Books, lot: Lot, at: DateTime.Utc): Books => {
  const { account } = lot
  const closed = State.replaceLots(State.accountOf(books, account), [{ ...lot, remaining: 0, closed: true }])
  if (lot.remaining === 0) return State.withAccount(books, account, closed, books.ids)
  const { ids, transaction } = State.nextTransaction(books.ids, "expire", { account, at, reference: lot.id })
  const next = State.book(closed, {
    ...transaction,
    amount: lot.remaining,
    entries: [{ from: lot.id, to: "expired", amount: lot.remaining }]
  })
  return State.withAccount(books, account, next, ids)
}
