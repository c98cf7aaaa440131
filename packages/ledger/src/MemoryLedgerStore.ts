/** Books in this process's memory, for tests and for hosts that may forget. */
import { MemoryBackend } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer } from "effect"
import { audit } from "./internal/Auditing.ts"
import { LedgerStore, type QuotaCount, type TransactionName } from "./LedgerStore.ts"
import type { Lot, LotId } from "./Lot.ts"
import { type Book, type QuotaBook, quotaBook, quotaOfBook, type Transaction } from "./Transaction.ts"

/** A store whose books are gone with its scope. */
export const layer: Layer.Layer<LedgerStore, never, MemoryBackend> = Layer.effect(
  LedgerStore,
  Effect.gen(function*() {
    const memory = yield* MemoryBackend
    const accounts = memory.makeMap<string, string>()
    const lots = memory.makeMap<LotId, Lot>()
    /** Lots that are not closed, by account. */
    const openLots = memory.makeMap<string, ReadonlySet<LotId>>()
    const quotas = memory.makeMap<string, QuotaCount>()
    const transactions = memory.makeMap<string, Transaction>()

    const openLotsOf = (account: string) => openLots.get(account) ?? new Set<LotId>()
    const putLot = (lot: Lot) => {
      lots.set(lot.id, lot)
      const before = openLotsOf(lot.account)
      if (before.has(lot.id) !== lot.closed) return
      const others = [...before].filter((id) => id !== lot.id)
      openLots.set(lot.account, new Set(lot.closed ? others : [...others, lot.id]))
    }
    const liveLots = (account: string, after: Lot["expiresAt"], limit: number) =>
      Array.from(openLotsOf(account), (id) => lots.get(id)!)
        .filter((lot) => lot.remaining > 0 && lot.expiresAt.epochMilliseconds > after.epochMilliseconds)
        .toSorted(byExpiry)
        .slice(0, limit)

    return LedgerStore.of({
      load: (query) =>
        memory.access(() => {
          for (const account of query.accounts) if (!accounts.has(account)) accounts.set(account, account)
          const found = query.transactions.flatMap((name) => transactions.get(nameOf(name)) ?? [])
          const touched = new Set(found.flatMap(({ entries }) => entries.flatMap(({ from, to }) => [from, to])))
          const named = [...query.lots, ...touched].flatMap((book) => lots.get(book as LotId) ?? [])
          const live = query.accounts.flatMap((account) => liveLots(account, query.liveAfter, query.liveMax))
          const counted = new Set([...touched].filter(isQuotaBook).map((book) => quotaOfBook(book).day))
          const { first, last } = query.days
          return {
            transactions: found,
            lots: [...new Set([...named, ...live])],
            quotas: Array.from(quotas.values()).filter(({ account, day }) =>
              query.accounts.includes(account) && ((first <= day && day <= last) || counted.has(day))
            )
          }
        }),

      save: (changes) =>
        memory.access(() => {
          for (const lot of changes.openedLots) putLot(lot)
          for (const lot of changes.changedLots) putLot(lot)
          for (const count of changes.quotas) quotas.set(`${count.account}\n${quotaBook(count.kind, count.day)}`, count)
          for (const transaction of changes.transactions) transactions.set(nameOf(transaction), transaction)
        }),

      findExpired: (at, limit) =>
        memory.access(() =>
          Array.from(lots.values())
            .filter((lot) => !lot.closed && lot.expiresAt.epochMilliseconds <= at.epochMilliseconds)
            .toSorted(byExpiry)
            .slice(0, limit)
            .map(({ account, id }) => ({ account, lot: id }))
        ),

      findBalances: ({ account, at, day, lotsMax }) =>
        memory.access(() => ({
          lots: liveLots(account, at, lotsMax),
          quotas: Array.from(quotas.values()).filter((count) => count.account === account && count.day === day)
        })),

      findTransactions: ({ account, before, limit, reference }) =>
        memory.access(() =>
          Array.from(transactions.values())
            .filter((transaction) =>
              transaction.account === account &&
              (reference === undefined || transaction.reference === reference) &&
              (before === undefined || transaction.id < before)
            )
            .toSorted((one, other) => one.id < other.id ? 1 : -1)
            .slice(0, limit)
        ),

      findAccounts: (after, limit) =>
        memory.access(() => Array.from(accounts.values()).filter((id) => id > after).toSorted().slice(0, limit)),

      audit: ({ accounts, discrepanciesMax }) =>
        memory.access(() => {
          const isMeant = ({ account }: { readonly account: string }) => accounts.includes(account)
          const audited = audit({
            transactions: Array.from(transactions.values()).filter(isMeant),
            lots: Array.from(lots.values()).filter(isMeant),
            quotas: Array.from(quotas.values()).filter(isMeant)
          })
          return { ...audited, discrepancies: audited.discrepancies.slice(0, discrepanciesMax) }
        })
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nameOf = ({ account, kind, reference }: TransactionName) => `${kind}\n${account}\n${reference}`

const byExpiry = (one: Lot, other: Lot) => one.expiresAt.epochMilliseconds - other.expiresAt.epochMilliseconds

const isQuotaBook = (book: Book): book is QuotaBook => book.startsWith("quota:")
