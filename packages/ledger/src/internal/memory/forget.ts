/** Replaces the name of an account and its references by opaque ones, in memory. */
import { type Transaction, TransactionId } from "../../Transaction.ts"
import * as Book from "../Book.ts"
import type { Expired, ForgetQuery, ForgottenRows } from "../stored.ts"
import { type Cells, holdKeyOf, keyOf, openLotsOf, quotaKeyOf } from "./cells.ts"

/** Finds what is open of an account. */
export const findOpen = (cells: Cells, account: string, limit: number): Expired | undefined => {
  if (!cells.accounts.has(account)) return undefined
  const holds = Array.from(cells.holds.values())
    .filter((hold) => hold.account === account && hold.state === "open")
    .slice(0, limit)
  const lots = Array.from(openLotsOf(cells, account)).slice(0, limit - holds.length)
  return {
    holds: holds.map(({ reference }) => ({ account, reference })),
    lots: lots.map((lot) => ({ account, lot }))
  }
}

/** Moves rows of an account: transactions with their holds, then lots and counters. Deletes the account last. */
export const forget = (cells: Cells, query: ForgetQuery): ForgottenRows => {
  const { account, after, limit } = query
  const found = Array.from(cells.transactions.values())
    .filter((transaction) => transaction.account === account && storedReference(transaction) > after)
    .toSorted((one, other) => storedReference(one) < storedReference(other) ? -1 : 1)
  const last = found.slice(0, limit).map(storedReference).at(-1)
  const moved = last === undefined ? [] : found.filter((transaction) => storedReference(transaction) <= last)
  const name = cells.forgetting.get(account) ?? (moved.length === 0 ? undefined : query.name)
  if (name !== undefined) begin(cells, account, name)
  for (const transaction of moved) moveTransaction(cells, transaction, { name: name!, moved })
  const isFull = moved.length >= limit
  const rows: ForgottenRows = { transactions: moved.length, after: isFull ? last! : "", isForgotten: false }
  // The last batch begins at the start, since commands may have booked earlier references in between.
  if (isFull || after !== "") return rows
  if (name !== undefined && moveRest(cells, { ...query, name })) return rows
  cells.forgetting.delete(account)
  cells.openLots.delete(account)
  cells.openHolds.delete(account)
  cells.accounts.delete(account)
  return { ...rows, isForgotten: true }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** As in the table: parts follow their charge. */
const storedReference = ({ part, reference }: Transaction) => part === undefined ? reference : `${reference}\n${part}`

const begin = (cells: Cells, account: string, name: string): void => {
  cells.accounts.set(name, name)
  cells.forgetting.set(account, name)
}

const moveTransaction = (
  cells: Cells,
  transaction: Transaction,
  { moved, name }: { readonly name: string; readonly moved: ReadonlyArray<Transaction> }
): void => {
  const reference = opaqueReference(transaction, moved)
  const part = transaction.part === undefined ? undefined : TransactionId.toUuid(transaction.id)
  const rename = (book: Book.Book) => Book.isHold(book) ? Book.ofHold(reference) : book
  const entries = transaction.entries.map(({ amount, from, to }) => ({ from: rename(from), to: rename(to), amount }))
  const opaque = { ...transaction, account: name, reference, part, entries, metadata: undefined }
  cells.transactions.delete(keyOf(transaction))
  cells.transactions.set(keyOf(opaque), opaque)
  if (part !== undefined) movePart(cells, transaction, opaque)
  const hold = transaction.kind === "hold" ? cells.holds.get(holdKeyOf(transaction)) : undefined
  if (hold !== undefined) {
    cells.holds.delete(holdKeyOf(hold))
    cells.holds.set(holdKeyOf(opaque), { ...hold, account: name, reference })
  }
}

const movePart = (cells: Cells, part: Transaction, opaque: Transaction): void => {
  const restKey = keyOf({ ...part, part: undefined })
  const others = (cells.partKeys.get(restKey) ?? []).filter((key) => key !== keyOf(part))
  if (others.length === 0) cells.partKeys.delete(restKey)
  else cells.partKeys.set(restKey, others)
  const opaqueKey = keyOf({ ...opaque, part: undefined })
  cells.partKeys.set(opaqueKey, [...cells.partKeys.get(opaqueKey) ?? [], keyOf(opaque)])
}

/** The id of the charge, or of the hold if there is no charge. `sql/forget.ts` does the same in SQL. */
const opaqueReference = ({ id, kind, reference, reverses }: Transaction, moved: ReadonlyArray<Transaction>): string => {
  if (kind === "expire") return reference
  if (kind === "refund") return TransactionId.toUuid(reverses!) // every refund reverses a charge
  const idOf = (wanted: Transaction["kind"]) =>
    moved.find((one) => one.kind === wanted && one.reference === reference)?.id
  return TransactionId.toUuid(kind === "grant" ? id : idOf("charge") ?? idOf("hold") ?? id)
}

/** Moves lots and counters, and returns whether others may be left. */
const moveRest = (cells: Cells, { account, limit, name }: ForgetQuery): boolean => {
  const isOwn = (one: { readonly account: string }) => one.account === account
  const lots = Array.from(cells.lots.values()).filter(isOwn).slice(0, limit)
  for (const lot of lots) cells.lots.set(lot.id, { ...lot, account: name })
  const counters = Array.from(cells.quotas.values()).filter(isOwn).slice(0, limit)
  for (const counter of counters) {
    const renamed = { ...counter, account: name }
    const used = counter.used + (cells.quotas.get(quotaKeyOf(renamed))?.used ?? 0)
    cells.quotas.delete(quotaKeyOf(counter))
    cells.quotas.set(quotaKeyOf(renamed), { ...renamed, used })
  }
  return lots.length === limit || counters.length === limit
}
