/** The storage port of the ledger. A store loads and writes; rules are applied by `Books`. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type * as Stored from "./internal/stored.ts"
import type { Moved } from "./internal/trialBalance.ts"
import type { Transaction } from "./Transaction.ts"

export { StaleBooks } from "./internal/stored.ts"

/** Stores accounts, lots, counters and transactions. */
export class LedgerStore extends Context.Service<LedgerStore, {
  /**
   * Locks the accounts until the unit of work ends, creates those that are missing,
   * and loads. The result reflects every commit that preceded the locks.
   */
  readonly load: (query: Stored.LoadQuery) => Effect.Effect<Stored.Loaded, StorageError>
  /**
   * Writes changes of accounts that this unit of work has locked. Fails without
   * effect if a transaction or a hold exists already, or if a lot would hold less than 0 or
   * more than was granted. Dies with `StaleBooks` if a stored counter differs from the
   * loaded one. After that, the unit of work must roll back.
   */
  readonly save: (changes: Stored.Changes) => Effect.Effect<void, StorageError>
  /**
   * Finds up to `limit` open holds that expired at `at` or before and, if they are fewer, up to as many lots that expired and
   * are not closed, oldest expiry first. Skips accounts that others have locked, unless only such are left. Then it returns
   * what has expired of one of them, without its lock, for which `load` waits.
   */
  readonly findExpired: (at: DateTime.Utc, limit: number) => Effect.Effect<Stored.Expired, StorageError>
  /**
   * Locks an account until the unit of work ends. Finds up to `limit` of its open holds and, if they are fewer, up to as many
   * of its lots that are not closed. Returns `undefined` if the account does not exist, and does not create it.
   */
  readonly lockAndFindOpen: (
    account: string,
    limit: number
  ) => Effect.Effect<Stored.Expired | undefined, StorageError>
  /**
   * Moves a batch of an account that this unit of work has locked, and that has neither open holds nor open lots, to another
   * name, replaces references, and deletes metadata. When all is moved, deletes the account. Until then, `audit` counts what is
   * moved to the account, and `findAccounts` does not return its new name.
   */
  readonly forget: (query: Stored.ForgetQuery) => Effect.Effect<Stored.ForgottenRows, StorageError>
  /**
   * Finds the account's lots that are not empty and expire after `at`, its counters of `day`, and its open holds. If the clock of
   * the storage differs, `day` is the one that it has at `at`. Takes no locks.
   */
  readonly findBalances: (query: Stored.BalancesQuery) => Effect.Effect<Stored.FoundBalances, StorageError>
  /** Finds transactions of an account, newest id first. Takes no locks. */
  readonly findTransactions: (
    query: Stored.TransactionsQuery
  ) => Effect.Effect<ReadonlyArray<Transaction>, StorageError>
  /**
   * Finds transactions of an account at `from` or later and before `to`, by time, then by id, after the transaction `after` if it
   * is one of the account. `opening` has the credits that all transactions before the first of these have left in lots and in
   * holds. All as of one moment. Takes no locks.
   */
  readonly findStatement: (query: Stored.StatementQuery) => Effect.Effect<Stored.FoundStatement, StorageError>
  /** Finds ids of accounts greater than `after`, in order. Takes no locks. */
  readonly findAccounts: (after: string, limit: number) => Effect.Effect<ReadonlyArray<string>, StorageError>
  /** Compares books and stored figures of the accounts as of one moment. Takes no locks. */
  readonly audit: (query: Stored.AuditQuery) => Effect.Effect<Stored.Audited, StorageError>
  /** Sums up the entries of all accounts as of one moment. Takes no locks. */
  readonly findMoved: Effect.Effect<Moved, StorageError>
}>()("@kinora/ledger/LedgerStore") {}
