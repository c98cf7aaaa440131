/** Reads books in memory. */
import type { DateTime } from "effect"
import type { Transaction } from "../../Transaction.ts"
import type { Audited, AuditQuery, BalancesQuery, ExpiredLot, FoundBalances, TransactionsQuery } from "../stored.ts"
import { classOf, type Moved } from "../trialBalance.ts"
import { audit as auditBooks } from "./audit.ts"
import { byExpiry, type Cells, findLiveLots } from "./cells.ts"

/** Finds lots whose expiry is not booked, oldest expiry first. */
export const findExpired = ({ lots }: Cells, at: DateTime.Utc, limit: number): ReadonlyArray<ExpiredLot> =>
  Array.from(lots.values())
    .filter((lot) => !lot.closed && lot.expiresAt.epochMilliseconds <= at.epochMilliseconds)
    .toSorted(byExpiry)
    .slice(0, limit)
    .map(({ account, id }) => ({ account, lot: id }))

/** Finds live lots and the counters of a day. */
export const findBalances = (cells: Cells, { account, at, day, lotsMax }: BalancesQuery): FoundBalances => ({
  lots: findLiveLots(cells, account, at, lotsMax),
  quotas: Array.from(cells.quotas.values()).filter((count) => count.account === account && count.day === day)
})

/** Finds transactions of an account, newest first. */
export const findTransactions = (
  { transactions }: Cells,
  { account, before, limit, reference }: TransactionsQuery
): ReadonlyArray<Transaction> =>
  Array.from(transactions.values())
    .filter((transaction) =>
      transaction.account === account &&
      (reference === undefined || transaction.reference === reference) &&
      (before === undefined || transaction.id < before)
    )
    .toSorted((one, other) => one.id < other.id ? 1 : -1)
    .slice(0, limit)

/** Finds accounts after one, in order. */
export const findAccounts = ({ accounts }: Cells, after: string, limit: number): ReadonlyArray<string> =>
  Array.from(accounts.values()).filter((id) => id > after).toSorted().slice(0, limit)

/** Compares books and stored figures of some accounts. */
export const audit = (cells: Cells, { accounts, discrepanciesMax }: AuditQuery): Audited => {
  const isRequested = ({ account }: { readonly account: string }) => accounts.includes(account)
  const { discrepancies, totals } = auditBooks({
    transactions: Array.from(cells.transactions.values()).filter(isRequested),
    lots: Array.from(cells.lots.values()).filter(isRequested),
    quotas: Array.from(cells.quotas.values()).filter(isRequested)
  })
  return { totals, discrepancies: discrepancies.slice(0, discrepanciesMax) }
}

/** Returns the entries of all accounts by class of books. */
export const findMoved = (cells: { readonly transactions: Pick<Cells["transactions"], "values"> }): Moved => {
  const transactions = Array.from(cells.transactions.values())
  return {
    moved: transactions.flatMap(({ entries }) =>
      entries.map(({ amount, from, to }) => ({ from: classOf(from), to: classOf(to), amount }))
    ),
    booked: transactions.reduce((sum, { amount }) => sum + amount, 0)
  }
}
