/** The values that the ledger exchanges with its store. */
import type { DateTime } from "effect"
import type { Hold } from "../Hold.ts"
import type { Lot, LotId } from "../Lot.ts"
import type { Transaction, TransactionId } from "../Transaction.ts"
import type { Day } from "./Day.ts"
import type { Verification } from "./verification.ts"

/** Accounts to lock, and what to load of them. */
export interface LoadQuery {
  /** Sorted, without duplicates. */
  readonly accounts: ReadonlyArray<string>
  /** Transactions to load, with the lots and counters that their entries touch, and the holds that charges refer to. */
  readonly transactions: ReadonlyArray<TransactionName>
  /** Accounts whose open holds are summed up. */
  readonly holdsOf: ReadonlyArray<string>
  /** Further lots to load. */
  readonly lots: ReadonlyArray<LotId>
  /** Lots that are not empty and expire later than this are loaded. */
  readonly liveAfter: DateTime.Utc
  /** The maximum number of such lots per account, soonest expiry first. */
  readonly liveMax: number
  /** Counters of the days from that of `first` to that of `last` are loaded, by the clock of the storage. */
  readonly days: { readonly first: DateTime.Utc; readonly last: DateTime.Utc }
}

/**
 * Identifies a transaction. In a query, a refund stands for all refunds of its charge, and a charge also for the hold with
 * its reference.
 */
export interface TransactionName extends Pick<Transaction, "account" | "kind" | "reference"> {
  readonly part?: string | undefined
}

/** The loaded values: each lot, counter and transaction once, in no particular order. */
export interface Loaded {
  readonly lots: ReadonlyArray<Lot>
  readonly quotas: ReadonlyArray<QuotaCount>
  readonly transactions: ReadonlyArray<Transaction>
  readonly holds: ReadonlyArray<Hold>
  /** Of the accounts that have open holds. */
  readonly openHolds: ReadonlyArray<OpenHolds>
  /** How far the clock of the storage is ahead of the caller's, in milliseconds. Default 0. */
  readonly aheadMillis?: number | undefined
}

/** The count of a quota on a UTC day. */
export interface QuotaCount {
  readonly account: string
  readonly kind: string
  readonly day: Day
  readonly used: number
}

/** The open holds of an account, including those that expired and were not returned yet. */
export interface OpenHolds {
  readonly account: string
  /** How many there are. */
  readonly count: number
  /** The sum of their credits. */
  readonly credits: number
}

/** The changes of a unit of work. */
export interface Changes {
  readonly openedLots: ReadonlyArray<Lot>
  readonly changedLots: ReadonlyArray<LotChange>
  readonly quotas: ReadonlyArray<QuotaChange>
  readonly transactions: ReadonlyArray<Transaction>
  readonly openedHolds: ReadonlyArray<Hold>
  /** Holds that were open. Each ends once, since its release is unique. */
  readonly endedHolds: ReadonlyArray<Pick<Hold, "account" | "reference" | "state">>
}

/** A new value of a counter. Stores write it only if the stored value is `before`. */
export interface QuotaChange extends QuotaCount {
  /** The value when the books were loaded or saved. 0 if the counter did not exist. */
  readonly before: number
}

/** The books to save are not based on the stored counters. */
export class StaleBooks extends Error {
  override readonly name = "StaleBooks"
  constructor() {
    super("A quota was changed after the books were loaded: load the books after all other changes of the unit of work")
  }
}

/**
 * The change of a lot that was loaded. Stores add `credits` to the stored figure, so
 * that it equals the balance of the lot's book whatever else was written meanwhile.
 */
export interface LotChange {
  readonly lot: LotId
  /** Credits to add. Negative when the lot paid. */
  readonly credits: number
  /** Whether the expiry was booked. */
  readonly closed: boolean
}

/** Lots and holds whose expiry is not booked yet, oldest first. */
export interface Expired {
  readonly lots: ReadonlyArray<ExpiredLot>
  readonly holds: ReadonlyArray<Pick<Hold, "account" | "reference">>
}

/** A lot whose expiry is not booked yet. */
export interface ExpiredLot {
  readonly account: string
  readonly lot: LotId
}

/** A batch of an account to forget, which is locked and has neither open holds nor open lots. */
export interface ForgetQuery {
  readonly account: string
  /** The new name of the account, unless an earlier batch has begun with another one. */
  readonly name: string
  /** Moves transactions with greater stored references than this one. */
  readonly after: string
  /** Moves up to so many transactions and, in the last batches, lots and counters. At most 5 more transactions share the last reference. */
  readonly limit: number
}

/** The result of a batch. */
export interface ForgottenRows {
  /** The number of moved transactions. */
  readonly transactions: number
  /** Where the next batch begins: after the last moved reference, or at the start. */
  readonly after: string
  /** Whether the account does not exist any more. */
  readonly isForgotten: boolean
}

/** The account and the time to find balances for. */
export interface BalancesQuery {
  readonly account: string
  readonly at: DateTime.Utc
  readonly day: Day
  readonly lotsMax: number
}

/** Live lots, the day's counters and the open holds of an account, in no particular order. There may be counters of other days. */
export type FoundBalances = Pick<Loaded, "lots" | "quotas" | "openHolds" | "aheadMillis">

/** Transactions to list. */
export interface TransactionsQuery {
  readonly account: string
  readonly reference: string | undefined
  readonly before: TransactionId | undefined
  readonly limit: number
}

/** A page of a statement. */
export interface StatementQuery {
  readonly account: string
  readonly from: DateTime.Utc
  readonly to: DateTime.Utc
  readonly after: TransactionId | undefined
  readonly limit: number
}

/** Credits of an account at a moment of its statement. */
export interface StatementBalance {
  /** Credits in lots, including those of restricted kinds. */
  readonly credits: number
  /** Credits of open holds. */
  readonly held: number
}

/** The transactions of a page, and the balance before the first of them. */
export interface FoundStatement {
  readonly opening: StatementBalance
  readonly transactions: ReadonlyArray<Transaction>
}

/** Accounts to audit. */
export interface AuditQuery {
  readonly accounts: ReadonlyArray<string>
  readonly discrepanciesMax: number
}

/** The result of an audit: discrepancies are sorted by account, figure and subject. */
export type Audited = Pick<Verification, "totals" | "discrepancies">
