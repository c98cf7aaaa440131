/** Writes changes to memory, under the constraints that the SQL tables have. */
import type { Lot } from "../../Lot.ts"
import * as Book from "../Book.ts"
import { type Changes, StaleBooks } from "../stored.ts"
import { type Cells, keyOf, openLotsOf } from "./cells.ts"

/**
 * Applies changes. Throws if a transaction exists already, or if a lot would hold less
 * than 0 or too much. Throws `StaleBooks` if a counter was changed meanwhile.
 */
export const save = (cells: Cells, changes: Changes): void => {
  for (const lot of changes.openedLots) putLot(cells, lot)
  for (const { closed, credits, lot: id } of changes.changedLots) {
    const lot = cells.lots.get(id)!
    putLot(cells, { ...lot, remaining: lot.remaining + credits, closed: lot.closed || closed })
  }
  for (const transaction of changes.transactions) {
    const key = keyOf(transaction)
    if (cells.transactions.has(key) || cells.transactionIds.has(transaction.id)) {
      throw new Error(`The ${transaction.kind} ${transaction.reference} of ${transaction.account} exists already`)
    }
    cells.transactions.set(key, transaction)
    cells.transactionIds.set(transaction.id, transaction.id)
  }
  for (const { before, ...count } of changes.quotas) {
    const key = `${count.account}\n${Book.ofQuota(count.kind, count.day)}`
    if ((cells.quotas.get(key)?.used ?? 0) !== before) throw new StaleBooks()
    cells.quotas.set(key, count)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const putLot = (cells: Cells, lot: Lot): void => {
  if (lot.remaining < 0 || lot.remaining > lot.granted || (lot.closed && lot.remaining > 0)) {
    throw new Error(`The lot ${lot.id} cannot hold ${lot.remaining} of ${lot.granted} credits`)
  }
  cells.lots.set(lot.id, lot)
  const before = openLotsOf(cells, lot.account)
  if (before.has(lot.id) !== lot.closed) return
  const others = [...before].filter((id) => id !== lot.id)
  cells.openLots.set(lot.account, new Set(lot.closed ? others : [...others, lot.id]))
}
