/** Where the ledger keeps its books. Stores load and write; every rule is decided above them. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { Discrepancy, Totals } from "./Audit.ts"
import type { Day } from "./Day.ts"
import type { Lot, LotId } from "./Lot.ts"
import type { Transaction, TransactionId, TransactionKind } from "./Transaction.ts"

/** A place for accounts, lots, counters and transactions. */
export class LedgerStore extends Context.Service<LedgerStore, {
  /**
   * Locks the accounts until the unit of work ends, making those that are new, then
   * loads. What it answers is not older than the locks.
   */
  readonly load: (query: LoadQuery) => Effect.Effect<Loaded, StorageError>
  /** Writes the changes, all of accounts that this unit has locked. */
  readonly save: (changes: Changes) => Effect.Effect<void, StorageError>
  /** Lots that expired at `at` or before and are not closed, the oldest expiry first. Locks nothing. */
  readonly findExpired: (at: DateTime.Utc, limit: number) => Effect.Effect<ReadonlyArray<ExpiredLot>, StorageError>
  /** The account's lots that hold something and expire after `at`, and its counters of `day`. Locks nothing. */
  readonly findBalances: (query: BalancesQuery) => Effect.Effect<FoundBalances, StorageError>
  /** Transactions of an account, the newest id first. Locks nothing. */
  readonly findTransactions: (query: TransactionsQuery) => Effect.Effect<ReadonlyArray<Transaction>, StorageError>
  /** Ids of accounts greater than `after`, in order. Locks nothing. */
  readonly findAccounts: (after: string, limit: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Compares books and kept figures of the accounts, all as they are at one moment. Locks nothing. */
  readonly audit: (query: AuditQuery) => Effect.Effect<Audited, StorageError>
}>()("@kinora/ledger/LedgerStore") {}

/** What to lock and load. */
export interface LoadQuery {
  /** Sorted, each once. */
  readonly accounts: ReadonlyArray<string>
  /** Transactions to load, with the lots and counters that their entries touch. */
  readonly transactions: ReadonlyArray<TransactionName>
  /** Further lots to load. */
  readonly lots: ReadonlyArray<LotId>
  /** Lots that hold something and expire after this are loaded. */
  readonly liveAfter: DateTime.Utc
  /** At most this many of them for each account, the soonest expiry first. */
  readonly liveMax: number
  /** Counters of these days are loaded, both included. */
  readonly days: { readonly first: Day; readonly last: Day }
}

/** What names a transaction: each name is used once. */
export interface TransactionName {
  readonly account: string
  readonly kind: TransactionKind
  readonly reference: string
}

/** What was found, each thing once, in no particular order. */
export interface Loaded {
  readonly lots: ReadonlyArray<Lot>
  readonly quotas: ReadonlyArray<QuotaCount>
  readonly transactions: ReadonlyArray<Transaction>
}

/** How often a quota was charged on a UTC day. */
export interface QuotaCount {
  readonly account: string
  readonly kind: string
  readonly day: Day
  readonly used: number
}

/** What a unit changed. */
export interface Changes {
  readonly openedLots: ReadonlyArray<Lot>
  /** Lots whose `remaining` or `closed` is another now. */
  readonly changedLots: ReadonlyArray<Lot>
  readonly quotas: ReadonlyArray<QuotaCount>
  readonly transactions: ReadonlyArray<Transaction>
}

/** A lot that waits for its expiry to be booked. */
export interface ExpiredLot {
  readonly account: string
  readonly lot: LotId
}

/** Whose balances to find. */
export interface BalancesQuery {
  readonly account: string
  readonly at: DateTime.Utc
  readonly day: Day
  readonly lotsMax: number
}

/** What was found, in no particular order. */
export interface FoundBalances {
  readonly lots: ReadonlyArray<Lot>
  readonly quotas: ReadonlyArray<QuotaCount>
}

/** Which transactions to find. */
export interface TransactionsQuery {
  readonly account: string
  readonly reference: string | undefined
  readonly before: TransactionId | undefined
  readonly limit: number
}

/** What to audit. */
export interface AuditQuery {
  readonly accounts: ReadonlyArray<string>
  readonly discrepanciesMax: number
}

/** What an audit of some accounts found. */
export interface Audited {
  readonly totals: Totals
  /** By account, figure and subject. */
  readonly discrepancies: ReadonlyArray<Discrepancy>
}
