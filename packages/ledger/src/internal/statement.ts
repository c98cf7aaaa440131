/** Statements: the transactions of an account in a period, with running balances. */
import type { DateTime } from "effect"
import { Effect } from "effect"
import type { LedgerStore } from "../LedgerStore.ts"
import type { Transaction } from "../Transaction.ts"
import { type Book, isHold, isLot } from "./Book.ts"
import type { TransactionId } from "./ids.ts"
import type { StatementBalance } from "./stored.ts"

export type { StatementBalance } from "./stored.ts"

/** The period of a statement, and a page of it. */
export interface StatementRequest {
  readonly account: string
  /** Returns transactions at this time or later. */
  readonly from: DateTime.Utc
  /** Returns transactions before this time. */
  readonly to: DateTime.Utc
  /** Continues after this transaction: the `next` of the previous page. */
  readonly after?: TransactionId | undefined
  /** The maximum number of lines, 1 to 1,000. Default 100. */
  readonly limit?: number | undefined
}

/** A transaction of a statement. */
interface StatementLine {
  readonly transaction: Transaction
  /** Amounts that it added to the balance. A transaction of a quota adds nothing. */
  readonly change: StatementBalance
  /** The balance after it. */
  readonly balance: StatementBalance
}

/** A page of a statement, in the order of time, then of ids. */
export interface Statement {
  /** The balance before the first line. */
  readonly opening: StatementBalance
  readonly lines: ReadonlyArray<StatementLine>
  /** The balance after the last line. */
  readonly closing: StatementBalance
  /** The `after` of the next page. `undefined` on the last one. */
  readonly next: TransactionId | undefined
}

/** Finds a page of a statement. */
export const findStatement = (
  store: LedgerStore["Service"],
  { limit = 100, ...request }: StatementRequest
): Effect.Effect<Statement, Effect.Error<ReturnType<LedgerStore["Service"]["findStatement"]>>> =>
  Effect.map(
    // One more than the page has, to find out whether there is a next page.
    store.findStatement({ ...request, after: request.after, limit: limit + 1 }),
    ({ opening, transactions }) => {
      const lines = linesFrom(opening, transactions.slice(0, limit))
      const last = lines.at(-1)
      return {
        opening,
        lines,
        closing: last?.balance ?? opening,
        next: transactions.length > limit ? last?.transaction.id : undefined
      }
    }
  )

/** Returns what transactions add to the balance. */
export const changeOf = (transactions: ReadonlyArray<Pick<Transaction, "entries">>): StatementBalance => {
  const entries = transactions.flatMap(({ entries }) => entries)
  const added = (isOf: (book: Book) => boolean) =>
    entries.reduce((sum, { amount, from, to }) => sum + (isOf(to) ? amount : 0) - (isOf(from) ? amount : 0), 0)
  return { credits: added(isLot), held: added(isHold) }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const linesFrom = (
  opening: StatementBalance,
  transactions: ReadonlyArray<Transaction>
): ReadonlyArray<StatementLine> => {
  let balance = opening
  return transactions.map((transaction) => {
    const change = changeOf([transaction])
    balance = { credits: balance.credits + change.credits, held: balance.held + change.held }
    return { transaction, change, balance }
  })
}
