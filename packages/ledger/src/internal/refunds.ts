/** How a refund returns what a charge took. Pure. */
import { DateTime } from "effect"
import type { LotId } from "../Lot.ts"
import type { Transaction } from "../Transaction.ts"
import * as Book from "./Book.ts"
import * as State from "./booksState.ts"
import type { LotPart, RefundCommand, Refunded } from "./commands.ts"
import { returnLots } from "./returnLots.ts"

/** Returns true if the charge counted to a quota. */
export const isOfQuota = (charge: Transaction): boolean => charge.entries.some(({ to }) => Book.isQuota(to))

/** Books a refund of `amount`, which is not more than what is left of the charge. */
export const refund = <Books extends State.BooksState>(
  books: Books,
  command: RefundCommand,
  { amount, charge }: { readonly charge: Transaction; readonly amount: number }
): readonly [Books, Refunded] => {
  const account = State.accountOf(books, command.account)
  const { ids, transaction } = State.nextTransaction(books.ids, "refund", command)
  const expiresAt = DateTime.addDuration(command.at, books.refundLifetime)
  const opening = { openedBy: transaction.id, openedAt: command.at, expiresAt }
  const paid = partsLeft(charge, State.refundedOf(account, charge), amount)
  const origin = { ...opening, book: "consumed", at: State.storageTime(books, command.at) } as const
  const returned = returnLots({ account, rules: books.lotRules }, paid, origin, ids)
  const counted = returnQuotas(returned.account, charge)
  const next = State.book(counted.account, {
    ...transaction,
    part: command.part?.reference,
    amount,
    reverses: charge.id,
    entries: [...returned.entries, ...counted.entries]
  })
  return [State.withAccount(books, command.account, next, returned.ids), {
    _tag: "Refunded",
    credits: returned.parts.reduce((sum, { credits }) => sum + credits, 0),
    parts: returned.parts
  }]
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Entry = Transaction["entries"][number]

/**
 * Returns the last `credits` that lots paid for the charge, without the `refunded` ones after them, in the order in which
 * they were paid. Lots pay soonest expiry first, so these credits are the ones that live longest.
 */
const partsLeft = (charge: Transaction, refunded: number, credits: number): ReadonlyArray<LotPart> => {
  const parts: Array<LotPart> = []
  let earlier = refunded
  let missing = credits
  for (const { amount, from, to } of charge.entries.toReversed()) {
    if (to !== "consumed") continue
    const left = Math.max(0, amount - earlier)
    earlier -= amount - left
    const part = Math.min(left, missing)
    missing -= part
    if (part > 0) parts.push({ lot: from as LotId, credits: part }) // only lots pay into `consumed`
  }
  return parts.toReversed()
}

/** Lowers the counters that the charge raised. */
const returnQuotas = (account: State.AccountState, charge: Transaction) => {
  const counted = charge.entries.flatMap(({ amount, to }) => Book.isQuota(to) ? [{ amount, book: to }] : [])
  return {
    account: counted.reduce((account, { amount, book }) => {
      const { day, kind } = Book.toQuota(book)
      const used = Math.max(0, State.usedOf(account, kind, day) - amount)
      return State.setUsed(account, { account: charge.account, kind, day, used })
    }, account),
    entries: counted.map(({ amount, book }): Entry => ({ from: book, to: "allowance", amount }))
  }
}
