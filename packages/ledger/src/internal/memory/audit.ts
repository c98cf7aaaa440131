/** Compares books with stored figures in memory. `../sql/audit.ts` does the same in SQL, and a test compares the two. */
import type { Hold } from "../../Hold.ts"
import type { Lot } from "../../Lot.ts"
import type { Transaction } from "../../Transaction.ts"
import * as Book from "../Book.ts"
import type { Audited, QuotaCount } from "../stored.ts"
import type { Discrepancy } from "../verification.ts"

/** Complete books of some accounts. */
export interface Kept {
  readonly transactions: ReadonlyArray<Transaction>
  readonly lots: ReadonlyArray<Lot>
  readonly quotas: ReadonlyArray<QuotaCount>
  readonly holds: ReadonlyArray<Hold>
}

/** Returns the totals of the books, and the stored figures that differ from them. */
export const audit = ({ holds, lots, quotas, transactions }: Kept): Audited => {
  const balances = balancesOf(transactions)
  const bookedOn = (account: string, book: Book.Book) => balances.get(account)?.get(book) ?? null
  const openings = new Map(
    transactions.flatMap(({ entries, id }) => entries.map(({ amount, to }) => [`${id} ${to}`, amount]))
  )
  const keptBooks = new Set<string>([
    ...lots.map(({ account, id }) => `${account}\n${id}`),
    ...quotas.map(({ account, day, kind }) => `${account}\n${Book.ofQuota(kind, day)}`),
    ...holds.map(({ account, reference }) => `${account}\n${Book.ofHold(reference)}`)
  ])

  const figures: ReadonlyArray<Discrepancy> = [
    ...transactions.map(({ account, amount, entries, id }): Discrepancy => {
      const booked = entries.reduce((sum, entry) => sum + entry.amount, 0)
      return { account, figure: "amount", subject: id, booked, kept: amount }
    }),
    ...lots.flatMap(({ account, granted, id, openedBy, remaining }): ReadonlyArray<Discrepancy> => [
      { account, figure: "granted", subject: id, booked: openings.get(`${openedBy} ${id}`) ?? null, kept: granted },
      { account, figure: "remaining", subject: id, booked: bookedOn(account, id), kept: remaining }
    ]),
    ...quotas.map(({ account, day, kind, used }): Discrepancy => {
      const book = Book.ofQuota(kind, day)
      return { account, figure: "used", subject: book, booked: bookedOn(account, book), kept: used }
    }),
    ...holds.map((hold): Discrepancy => {
      const book = Book.ofHold(hold.reference)
      const booked = bookedOn(hold.account, book) ?? 0
      return { account: hold.account, figure: "held", subject: book, booked, kept: heldBy(hold) }
    }),
    ...Array.from(balances).flatMap(([account, books]) =>
      Array.from(books).flatMap(([book, booked]): ReadonlyArray<Discrepancy> => {
        const figure = figureOf(book)
        return figure === undefined || keptBooks.has(`${account}\n${book}`)
          ? []
          : [{ account, figure, subject: book, booked, kept: null }]
      })
    )
  ]
  return {
    totals: totalsOf(balances, lots, holds),
    discrepancies: figures.filter(({ booked, kept }) => booked !== kept).toSorted(byPlace)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The stored figure that a book has, if it has one. */
const figureOf = (book: Book.Book): "remaining" | "used" | "held" | undefined => {
  if (Book.isLot(book)) return "remaining"
  if (Book.isQuota(book)) return "used"
  return Book.isHold(book) ? "held" : undefined
}

/** The credits that are held now. */
const heldBy = ({ credits, state }: Hold): number => state === "open" ? credits : 0

type Balances = ReadonlyMap<string, ReadonlyMap<Book.Book, number>>

/** Returns the balance of each book of each account. */
const balancesOf = (transactions: ReadonlyArray<Transaction>): Balances => {
  const balances = new Map<string, Map<Book.Book, number>>()
  for (const { account, entries } of transactions) {
    const books = balances.get(account) ?? new Map<Book.Book, number>()
    balances.set(account, books)
    for (const { amount, from, to } of entries) {
      books.set(from, (books.get(from) ?? 0) - amount)
      books.set(to, (books.get(to) ?? 0) + amount)
    }
  }
  return balances
}

const totalsOf = (
  balances: Balances,
  lots: ReadonlyArray<Lot>,
  holds: ReadonlyArray<Hold>
): Audited["totals"] => {
  const sumOf = (includes: (book: Book.Book) => boolean) => {
    let sum = 0
    for (const books of balances.values()) {
      for (const [book, balance] of books) if (includes(book)) sum += balance
    }
    return sum
  }
  return {
    granted: 0 - sumOf((book) => book.startsWith("source:")),
    remaining: lots.reduce((sum, lot) => sum + lot.remaining, 0),
    held: holds.reduce((sum, hold) => sum + heldBy(hold), 0),
    consumed: sumOf((book) => book === "consumed"),
    expired: sumOf((book) => book === "expired")
  }
}

const byPlace = (one: Discrepancy, other: Discrepancy) => keyOf(one) < keyOf(other) ? -1 : 1

const keyOf = ({ account, figure, subject }: Discrepancy) => `${account}\n${figure}\n${subject}`
