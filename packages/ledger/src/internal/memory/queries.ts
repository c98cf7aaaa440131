/** Reads books in memory. */
import type { DateTime } from "effect"
import type { Transaction } from "../../Transaction.ts"
import { changeOf } from "../statement.ts"
import type {
  Audited,
  AuditQuery,
  BalancesQuery,
  Expired,
  FoundBalances,
  FoundStatement,
  StatementQuery,
  TransactionsQuery
} from "../stored.ts"
import { classOf, type Moved } from "../trialBalance.ts"
import { audit as auditBooks } from "./audit.ts"
import { byExpiry, type Cells, findLiveLots, openHoldsOf, quotaKeyOf } from "./cells.ts"

/** Finds holds and lots whose expiry is not booked, oldest expiry first. */
export const findExpired = (cells: Cells, at: DateTime.Utc, limit: number): Expired => {
  const hasExpired = ({ expiresAt }: { readonly expiresAt: DateTime.Utc }) =>
    expiresAt.epochMilliseconds <= at.epochMilliseconds
  const holds = Array.from(cells.holds.values())
    .filter((hold) => hold.state === "open" && hasExpired(hold))
    .toSorted(byExpiry)
    .slice(0, limit)
  const lots = Array.from(cells.lots.values())
    .filter((lot) => !lot.closed && hasExpired(lot))
    .toSorted(byExpiry)
    .slice(0, limit - holds.length)
  return {
    holds: holds.map(({ account, reference }) => ({ account, reference })),
    lots: lots.map(({ account, id }) => ({ account, lot: id }))
  }
}

/** Finds live lots, the counters of a day, and open holds. */
export const findBalances = (cells: Cells, { account, at, day, lotsMax }: BalancesQuery): FoundBalances => ({
  lots: findLiveLots(cells, account, at, lotsMax),
  quotas: Array.from(cells.quotas.values()).filter((count) => count.account === account && count.day === day),
  openHolds: openHoldsOf(cells, account)
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

/** Finds transactions of a period, in the order of time, and the balance before the first of them. */
export const findStatement = (
  { transactions }: Cells,
  { account, after, from, limit, to }: StatementQuery
): FoundStatement => {
  const own = Array.from(transactions.values())
    .filter((transaction) => transaction.account === account && transaction.at.epochMilliseconds < to.epochMilliseconds)
    .toSorted((one, other) => one.at.epochMilliseconds - other.at.epochMilliseconds || (one.id < other.id ? -1 : 1))
  const inPeriod = own.findIndex(({ at }) => at.epochMilliseconds >= from.epochMilliseconds)
  const first = Math.max(inPeriod === -1 ? own.length : inPeriod, own.findIndex(({ id }) => id === after) + 1)
  return { opening: changeOf(own.slice(0, first)), transactions: own.slice(first, first + limit) }
}

/** Finds accounts after one, in order. */
export const findAccounts = (
  { accounts, forgetting }: Cells,
  after: string,
  limit: number
): ReadonlyArray<string> => {
  const begun = new Set(forgetting.values())
  return Array.from(accounts.values()).filter((id) => id > after && !begun.has(id)).toSorted().slice(0, limit)
}

/** Compares books and stored figures of some accounts, each with what is moved already if it is being forgotten. */
export const audit = (cells: Cells, { accounts, discrepanciesMax }: AuditQuery): Audited => {
  const owners = new Map(accounts.flatMap((account) => {
    const name = cells.forgetting.get(account)
    return [account, ...name === undefined ? [] : [name]].map((id) => [id, account])
  }))
  const requested = <Row extends { readonly account: string }>(rows: Iterable<Row>): ReadonlyArray<Row> =>
    Array.from(rows).flatMap((row) => {
      const account = owners.get(row.account)
      return account === undefined ? [] : [{ ...row, account }]
    })
  const counters = Map.groupBy(requested(cells.quotas.values()), quotaKeyOf)
  const { discrepancies, totals } = auditBooks({
    transactions: requested(cells.transactions.values()),
    lots: requested(cells.lots.values()),
    quotas: Array.from(counters.values(), (same) => ({
      ...same[0]!, // groups are not empty
      used: same.reduce((sum, { used }) => sum + used, 0)
    })),
    holds: requested(cells.holds.values())
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
