/** Loads books from memory. */
import * as Book from "../Book.ts"
import * as Day from "../Day.ts"
import type { Loaded, LoadQuery } from "../stored.ts"
import { type Cells, findLiveLots, findNamed, holdKeyOf, openHoldsOf } from "./cells.ts"

/** Creates missing accounts, and loads. */
export const load = (cells: Cells, query: LoadQuery): Loaded => {
  for (const account of query.accounts) if (!cells.accounts.has(account)) cells.accounts.set(account, account)
  const transactions = query.transactions.flatMap((name) => findNamed(cells, name))
  const touched = transactions.flatMap(({ entries }) => entries.flatMap(({ from, to }) => [from, to]))
  const named = [...query.lots, ...touched.filter(Book.isLot)].flatMap((id) => cells.lots.get(id) ?? [])
  const live = query.accounts.flatMap((account) => findLiveLots(cells, account, query.liveAfter, query.liveMax))
  const counted = new Set(touched.filter(Book.isQuota).map((book) => Book.toQuota(book).day))
  const [first, last] = [Day.of(query.days.first), Day.of(query.days.last)]
  return {
    transactions,
    lots: [...new Set([...named, ...live])],
    holds: query.transactions.flatMap((name) => name.kind === "charge" ? cells.holds.get(holdKeyOf(name)) ?? [] : []),
    openHolds: query.holdsOf.flatMap((account) => openHoldsOf(cells, account)),
    quotas: Array.from(cells.quotas.values()).filter(({ account, day }) =>
      query.accounts.includes(account) && ((first <= day && day <= last) || counted.has(day))
    )
  }
}
