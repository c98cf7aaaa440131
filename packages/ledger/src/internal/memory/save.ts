/** Writes changes to memory, under the constraints that the SQL tables have. */
import type { Hold } from "../../Hold.ts"
import type { Lot } from "../../Lot.ts"
import type { Transaction } from "../../Transaction.ts"
import { type Changes, StaleBooks } from "../stored.ts"
import { type Cells, findNamed, holdKeyOf, keyOf, openHoldsOf, openLotsOf, quotaKeyOf } from "./cells.ts"

/**
 * Applies changes. Throws if a transaction exists already, if the refunds of a charge would exceed it, or if a lot
 * would hold less than 0 or too much. Throws `StaleBooks` if a counter was changed meanwhile.
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
    if (transaction.kind === "refund") checkRefund(cells, transaction)
    if (transaction.kind === "release") checkRelease(cells, transaction)
    if (transaction.part !== undefined) {
      const restKey = keyOf({ ...transaction, part: undefined })
      cells.partKeys.set(restKey, [...cells.partKeys.get(restKey) ?? [], key])
    }
    cells.transactions.set(key, transaction)
    cells.transactionIds.set(transaction.id, transaction.id)
  }
  for (const { before, ...count } of changes.quotas) {
    const key = quotaKeyOf(count)
    if ((cells.quotas.get(key)?.used ?? 0) !== before) throw new StaleBooks()
    cells.quotas.set(key, count)
  }
  for (const hold of changes.openedHolds) {
    const key = holdKeyOf(hold)
    if (cells.holds.has(key)) throw new Error(`The hold ${hold.reference} of ${hold.account} exists already`)
    cells.holds.set(key, hold)
    if (hold.state === "open") addOpen(cells, hold, 1)
  }
  for (const { state, ...name } of changes.endedHolds) {
    const key = holdKeyOf(name)
    const hold = cells.holds.get(key)!
    cells.holds.set(key, { ...hold, state })
    addOpen(cells, hold, -1)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Throws if the refund exceeds what is left of its charge, or is less but not of a part. */
const checkRefund = (cells: Cells, refund: Transaction): void => {
  const { account, amount, part, reference, reverses } = refund
  const [charge] = findNamed(cells, { account, kind: "charge", reference })
  const refunded = findNamed(cells, { account, kind: "refund", reference })
    // Parts of an earlier charge of the reference may be left of an account that is being forgotten.
    .filter((one) => one.reverses === reverses)
    .reduce((sum, { amount }) => sum + amount, 0)
  const left = charge === undefined || charge.id !== reverses ? -1 : charge.amount - refunded - amount
  if (left < 0 || (part === undefined && left > 0)) {
    throw new Error(`A refund of ${amount} of the charge ${reference} of ${account} is refused`)
  }
}

/** Throws unless the release returns all of its hold. */
const checkRelease = (cells: Cells, { account, amount, reference, reverses }: Transaction): void => {
  const [hold] = findNamed(cells, { account, kind: "hold", reference })
  if (hold === undefined || hold.id !== reverses || hold.amount !== amount) {
    throw new Error(`A release of ${amount} of the hold ${reference} of ${account} is refused`)
  }
}

/** Adds a hold to the open ones of its account, or removes it. */
const addOpen = (cells: Cells, { account, credits }: Hold, sign: 1 | -1): void => {
  const [open = { count: 0, credits: 0 }] = openHoldsOf(cells, account)
  cells.openHolds.set(account, { account, count: open.count + sign, credits: open.credits + sign * credits })
}

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
