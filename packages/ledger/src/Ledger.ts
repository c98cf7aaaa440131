/**
 * The billing ledger: credits in lots, daily quotas, charges and refunds.
 *
 * Every movement is booked in double entry, and what a lot holds or a day has used
 * is a projection of the books that `verify` compares with them. An account is
 * charged once for a reference and refunded at most once, whatever happens twice.
 */
import type { Proposal } from "@kinora/persistence/Proposal"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect, type Result } from "effect"
import type { Verification } from "./Audit.ts"
import type {
  AlreadyRefunded,
  ChargeCommand,
  Charged,
  ChargeRefusal,
  RefundCommand,
  Refunded,
  UnknownCharge
} from "./Charge.ts"
import type { Day } from "./Day.ts"
import type { AlreadyGranted, GrantCommand, Granted, GrantExpired } from "./Grant.ts"
import type { Lot } from "./Lot.ts"
import type { Transaction } from "./Transaction.ts"

/** Charges, refunds and grants; see the module's head. */
export class Ledger extends Context.Service<Ledger, {
  /**
   * Locks the accounts that are named, in the order of their ids, and loads what
   * commands on them need. Inside a unit of work only; an account that was never
   * seen begins empty. Decide on the books, keep what should happen, then `save`.
   */
  readonly open: (options: OpenOptions) => Effect.Effect<OpenBooks, StorageError>

  /** Charges once. Concurrent calls share a unit of work. */
  readonly charge: (
    command: ChargeCommand
  ) => Effect.Effect<Result.Result<Charged, ChargeRefusal>, StorageError>
  /** Charges in one unit, in this order. One that is refused does not stop the others. */
  readonly chargeAll: (
    commands: ReadonlyArray<ChargeCommand>
  ) => Effect.Effect<ReadonlyArray<Result.Result<Charged, ChargeRefusal>>, StorageError>

  /** Refunds at most once. Concurrent calls share a unit of work. */
  readonly refund: (
    command: RefundCommand
  ) => Effect.Effect<Result.Result<Refunded | AlreadyRefunded, UnknownCharge>, StorageError>
  /** Refunds in one unit, in this order. */
  readonly refundAll: (
    commands: ReadonlyArray<RefundCommand>
  ) => Effect.Effect<
    ReadonlyArray<Result.Result<Refunded | AlreadyRefunded, UnknownCharge>>,
    StorageError
  >

  /** Opens a lot, once for its reference. Concurrent calls share a unit of work. */
  readonly grant: (
    command: GrantCommand
  ) => Effect.Effect<Result.Result<Granted | AlreadyGranted, GrantExpired>, StorageError>
  /** Opens lots in one unit, in this order. */
  readonly grantAll: (
    commands: ReadonlyArray<GrantCommand>
  ) => Effect.Effect<ReadonlyArray<Result.Result<Granted | AlreadyGranted, GrantExpired>>, StorageError>

  /**
   * Books what is left in lots that expired at `at` or before, the oldest first, at
   * most `limit` lots (default 500). Run it until it answers 0 lots; any number of hosts may.
   */
  readonly expire: (
    options: { readonly at: DateTime.Utc; readonly limit?: number | undefined }
  ) => Effect.Effect<Expired, StorageError>

  /** What the account has at `at`. Waits for nobody. */
  readonly balances: (account: string, at: DateTime.Utc) => Effect.Effect<Balances, StorageError>

  /** The account's transactions, newest first, for operators. */
  readonly entries: (options: EntriesOptions) => Effect.Effect<ReadonlyArray<Transaction>, StorageError>

  /**
   * Compares the books with the figures that are kept beside them, for one account
   * or for all, while others go on working (D24).
   */
  readonly verify: (options?: VerifyOptions) => Effect.Effect<Verification, StorageError>
}>()("@kinora/ledger/Ledger") {}

/** The most credits that one lot can hold or one charge can cost. */
export const creditsMax = 1_000_000_000_000

/** What a unit is going to ask the books. A command that was not announced is a defect. */
export interface OpenOptions {
  /** Charges that commands will make or refund. */
  readonly charges?: ReadonlyArray<Named> | undefined
  /** Grants that commands will make. */
  readonly grants?: ReadonlyArray<Named> | undefined
  /** The earliest `at` of the commands. */
  readonly at: DateTime.Utc
  /** The latest `at` of the commands. Default: `at`. */
  readonly until?: DateTime.Utc | undefined
}

/** A reference, and the account that it belongs to. */
export interface Named {
  readonly account: string
  readonly reference: string
}

/**
 * The books of some accounts, locked for this unit. Deciding changes nothing;
 * keeping a proposal changes what the next command sees; `save` writes it.
 */
export interface OpenBooks {
  readonly charge: (command: ChargeCommand) => Result.Result<Proposal<Charged>, ChargeRefusal>
  readonly refund: (
    command: RefundCommand
  ) => Result.Result<Proposal<Refunded | AlreadyRefunded>, UnknownCharge>
  readonly grant: (
    command: GrantCommand
  ) => Result.Result<Proposal<Granted | AlreadyGranted>, GrantExpired>
  /** Writes all that was kept since the books were opened or saved, in one statement. */
  readonly save: Effect.Effect<void, StorageError>
}

/** What an expiry sweep booked. */
export interface Expired {
  readonly lots: number
  readonly credits: number
}

/** What an account has. */
export interface Balances {
  readonly account: string
  /** Lots that hold something and have not expired, in the order of D21, trial lots among them. */
  readonly lots: ReadonlyArray<Lot>
  /** Credits that charges can spend: all lots but trial ones. */
  readonly credits: number
  /** How many of `credits` pay for images only. */
  readonly creditsImagesOnly: number
  /** The UTC day of the counters. */
  readonly day: Day
  /** The next 00:00 UTC. */
  readonly resetsAt: DateTime.Utc
  /** Charges of the day by kind of quota. A kind that is missing was not charged. */
  readonly quotaUsed: ReadonlyMap<string, number>
}

/** Which transactions to list. */
export interface EntriesOptions {
  readonly account: string
  /** Only those of this reference. */
  readonly reference?: string | undefined
  /** Only those older than this transaction: the last one of the page before. */
  readonly before?: Transaction["id"] | undefined
  /** 1 to 1,000. Default 100. */
  readonly limit?: number | undefined
}

/** What to verify. */
export interface VerifyOptions {
  /** Only this account. Default: all. */
  readonly account?: string | undefined
  /** At most this many discrepancies are returned. Default 100. */
  readonly discrepanciesMax?: number | undefined
}
