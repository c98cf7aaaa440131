/**
 * The billing ledger: credits in lots, daily quotas, charges, refunds and holds.
 *
 * Every movement is booked in double entry. Stored figures, such as the credits of a
 * lot, are projections of the books, and `verify` compares the two. An account is
 * charged once per reference and refunded at most what it was charged, however often a
 * command is repeated.
 */
import { Backend, Sweep, UnitOfWork } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, DateTime, type Duration, Effect, Layer, type Result } from "effect"
import type { SecureRandom } from "effect/crypto"
import type * as Books from "./Books.ts"
import { type Balances, check, findBalances } from "./internal/balances.ts"
import * as Check from "./internal/check.ts"
import type * as Commands from "./internal/commands.ts"
import { expire } from "./internal/expire.ts"
import { type ForgetCommand, type Forgotten, makeForget } from "./internal/forget.ts"
import * as LoadedBooks from "./internal/loadedBooks.ts"
import { type LotOptions, makeRules } from "./internal/lots.ts"
import type { GrantExpired } from "./internal/reasons.ts"
import type { CaptureRefusal, ChargeRefusal, HoldRefusal, RefundRefusal, ReleaseRefusal } from "./internal/refusals.ts"
import { revoke, type RevokeCommand, type Revoked } from "./internal/revokeLot.ts"
import { makeSetOperations } from "./internal/setOperations.ts"
import { findStatement, type Statement, type StatementRequest } from "./internal/statement.ts"
import { type TrialBalance, trialBalanceOf } from "./internal/trialBalance.ts"
import type { Verification } from "./internal/verification.ts"
import { verify } from "./internal/verify.ts"
import type { LedgerError } from "./LedgerError.ts"
import { LedgerStore } from "./LedgerStore.ts"
import * as MemoryLedgerStore from "./MemoryLedgerStore.ts"
import * as SqlLedgerStore from "./SqlLedgerStore.ts"
import type { Transaction } from "./Transaction.ts"

export type { Balances, Statement, Verification }

/** A call that fails with the refusal of its command. */
type Single<Command, A> = (command: Command) => Effect.Effect<A, LedgerError | StorageError>

/** A call that returns one result per command. */
type Many<Command, A, Refusal> = (
  commands: ReadonlyArray<Command>
) => Effect.Effect<ReadonlyArray<Result.Result<A, Refusal>>, StorageError>

/** Charges, refunds, grants and holds. See the description of the module. */
export class Ledger extends Context.Service<Ledger, {
  /**
   * Charges an account once per reference. Concurrent calls share a unit of work
   * unless the caller is inside a transaction, in which case the charge belongs to it.
   *
   * Fails with `InsufficientCredits`, `QuotaExceeded`, `AlreadyCharged`, or `AlreadyHeld` if the reference has an open hold.
   */
  readonly charge: Single<Books.ChargeCommand, Commands.Charged>
  /** Charges in one unit of work, in order. A refused charge does not stop the others. */
  readonly chargeAll: Many<Books.ChargeCommand, Commands.Charged, ChargeRefusal>

  /**
   * Fails with the refusal that `charge` would fail with now, `InsufficientCredits` or
   * `QuotaExceeded`. Takes no locks and reserves nothing, so a later charge can still be
   * refused. Call it before work that a refusal would waste. It decides by `at`, and
   * `charge` by the clock of the storage.
   */
  readonly check: (
    command: Omit<Books.ChargeCommand, "reference">
  ) => Effect.Effect<void, LedgerError | StorageError>

  /**
   * Refunds all that is left of a charge, or a part of it once per reference of the part. Shares units of work like `charge`.
   *
   * Fails with `UnknownCharge`. A part fails with `RefundExceedsCharge` if less is left of the charge, and with
   * `IndivisibleCharge` if the charge counted to a quota.
   */
  readonly refund: Single<Books.RefundCommand, Commands.Refunded>
  /** Refunds in one unit of work, in order. */
  readonly refundAll: Many<Books.RefundCommand, Commands.Refunded, RefundRefusal>

  /** Opens a lot once per reference. Shares units of work like `charge`. Fails with `GrantExpired`. */
  readonly grant: Single<Books.GrantCommand, Commands.Granted>
  /** Opens lots in one unit of work, in order. */
  readonly grantAll: Many<Books.GrantCommand, Commands.Granted, GrantExpired>

  /**
   * Takes credits from lots as a charge does, once per reference, until they are captured or released, or the hold expires.
   * Shares units of work like `charge`.
   *
   * Fails with `InsufficientCredits`, `AlreadyHeld`, `AlreadyCharged`, `HoldExpired` or `TooManyHolds`. Dies if the hold would
   * last longer than `holdLifetimeMax`.
   */
  readonly hold: Single<Books.HoldCommand, Commands.Held>
  /** Holds credits in one unit of work, in order. */
  readonly holdAll: Many<Books.HoldCommand, Commands.Held, HoldRefusal>

  /**
   * Charges at most the credits of a hold, from the lots that gave them, and returns the rest to these lots. The charge has the
   * reference of the hold and is refunded like any other. Idempotent. Shares units of work like `charge`.
   *
   * Fails with `UnknownHold`, with `HoldEnded` if the hold was released or has expired, with `CaptureExceedsHold`, with
   * `CaptureDiffers` if it was captured with other credits, and with `AlreadyCharged`.
   */
  readonly capture: Single<Books.CaptureCommand, Commands.Captured>
  /** Captures in one unit of work, in order. */
  readonly captureAll: Many<Books.CaptureCommand, Commands.Captured, CaptureRefusal>

  /**
   * Returns the credits of a hold to the lots that gave them. Idempotent. Shares units of work like `charge`.
   *
   * Fails with `UnknownHold`, and with `HoldEnded` if the hold was captured.
   */
  readonly release: Single<Books.ReleaseCommand, Commands.Released>
  /** Releases in one unit of work, in order. */
  readonly releaseAll: Many<Books.ReleaseCommand, Commands.Released, ReleaseRefusal>

  /**
   * Closes a lot before it expires: what is left in it is booked as expired. Idempotent. Fails with `UnknownLot`.
   * Credits of the lot that are held stay held. What a refund, a release or a capture returns to the lot later becomes a new
   * lot, as if the lot had expired.
   */
  readonly revoke: Single<RevokeCommand, Revoked>

  /**
   * Locks the accounts of a request, in the order of their ids, and loads their books
   * for the functions of the `Books` module. An account without transactions has empty
   * books. Dies outside of a unit of work.
   */
  readonly load: (request: LoadedBooks.LoadRequest) => Effect.Effect<Books.Books, StorageError>
  /**
   * Writes the changes that the books carry, in one statement, and returns the books
   * without changes.
   *
   * Fails if a transaction exists already, which is the case if the same books were
   * saved before. Dies with `StaleBooks` if a quota that the books charged or refunded
   * was changed after the load, by another `save` or a single call in the same unit of
   * work. Lots are saved as differences. A `save` that takes more credits than a lot
   * holds fails. A `save` that does not succeed dooms the unit of work, also if the caller
   * recovers, so no part of it is committed.
   */
  readonly save: (books: Books.Books) => Effect.Effect<Books.Books, StorageError>

  /**
   * Returns the credits of holds, and books the credits that are left in lots, that expired at `at` or before, holds first,
   * then oldest expiry first, for up to `limit` of them (default 500, at most `setMax`). `credits` are those of the lots. Repeat
   * it until it returns 0 lots and 0 holds, as `layerSweep` does, on any number of hosts. Accounts that others have locked come last.
   */
  readonly expire: (
    options: { readonly at: DateTime.Utc; readonly limit?: number | undefined }
  ) => Effect.Effect<{ readonly lots: number; readonly credits: number; readonly holds: number }, StorageError>

  /**
   * Erases an account: releases its open holds, books what is left in its lots as expired, replaces its name and its
   * references by random ones, which no command can use, and deletes metadata. Amounts, times, kinds, purposes, labels, ids and
   * the links between transactions stay, so the books balance. Afterwards the name is unknown, as if it had never been used: a later command on it begins a new account.
   *
   * Works in batches of `limit` transactions, each a unit of work of its own, or all in the transaction of the caller. If a
   * call ends early, another one continues. Idempotent.
   */
  readonly forget: (command: ForgetCommand) => Effect.Effect<Forgotten, StorageError>

  /** The maximum number of references in one unit of work, and of lots and holds in one call of `expire`. */
  readonly setMax: number

  /** Returns the balances of an account at `at`. Takes no locks. */
  readonly balances: (account: string, at: DateTime.Utc) => Effect.Effect<Balances, StorageError>

  /** Returns transactions of an account, newest first. */
  readonly entries: (options: {
    readonly account: string
    /** Returns only transactions with this reference. */
    readonly reference?: string | undefined
    /** Returns only transactions older than this one: the last one of the previous page. */
    readonly before?: Transaction["id"] | undefined
    /** 1 to 1,000. Default 100. */
    readonly limit?: number | undefined
  }) => Effect.Effect<ReadonlyArray<Transaction>, StorageError>

  /**
   * Returns a page of the statement of an account: its transactions in a period, oldest first, each with the balance after it.
   * A later command with an earlier `at` changes the statement of that period. Reads all transactions of the account before `to`.
   */
  readonly statement: (request: StatementRequest) => Effect.Effect<Statement, StorageError>

  /** Compares the books with the stored figures, for one account, for all, or for a page. Takes no locks. */
  readonly verify: (options?: {
    /** Verifies only this account. Default: all accounts. */
    readonly account?: string | undefined
    /** Skips accounts up to and including this one: the `next` of the previous page. */
    readonly after?: string | undefined
    /** The maximum number of accounts, at least 1. Default: unlimited. */
    readonly accountsMax?: number | undefined
    /** The maximum number of returned discrepancies, 1 to 10,000. Default 100. */
    readonly discrepanciesMax?: number | undefined
  }) => Effect.Effect<Verification, StorageError>

  /**
   * Returns the totals of all books as of one moment, from the entries. Takes no locks. Fails if it
   * takes longer than a statement or a unit of work may.
   */
  readonly trialBalance: Effect.Effect<TrialBalance, StorageError>
}>()("@kinora/ledger/Ledger") {}

/** Options of a ledger. */
export interface LedgerOptions extends LotOptions {
  /** The lifetime of a lot that a refund or the end of a hold opens in place of an expired one. Default 30 days. */
  readonly refundLifetime?: Duration.Input | undefined
  /** The longest time until a hold expires. A longer one is a defect. Default 7 days. */
  readonly holdLifetimeMax?: Duration.Input | undefined
  /** The maximum number of open holds of an account. Default 1,000. */
  readonly holdsMax?: number | undefined
  /** The maximum number of live lots that a charge considers, soonest expiry first. Default 1,000. */
  readonly lotsMax?: number | undefined
  /** The maximum number of references in one unit of work. More are a defect. Default 1,000. */
  readonly setMax?: number | undefined
  /** The maximum number of concurrent single calls that share a unit of work. Default 64. */
  readonly foldMax?: number | undefined
}

const make = Effect.fnUntraced(function*(options: LedgerOptions) {
  const { foldMax = 64, holdLifetimeMax = "7 days", holdsMax = 1_000 } = options
  const { lotsMax = 1_000, refundLifetime = "30 days", setMax = 1_000 } = options
  const store = yield* LedgerStore
  const { atomically } = yield* UnitOfWork.UnitOfWork
  const lotRules = makeRules(options)
  const books = yield* LoadedBooks.make({ holdLifetimeMax, holdsMax, lotRules, lotsMax, refundLifetime, setMax })

  return Ledger.of({
    setMax,
    ...(yield* makeSetOperations({ books, foldMax })),
    load: Effect.fn("Ledger.load")(books.load),
    save: Effect.fn("Ledger.save")(books.save, atomically),
    revoke: Effect.fn("Ledger.revoke")((command: RevokeCommand) => revoke(books, command), atomically),
    expire: Effect.fn("Ledger.expire")(function*({ at, limit = 500 }) {
      Check.limit("The limit of an expiry sweep", limit, setMax)
      return yield* expire({ books, store, at, limit })
    }, atomically),
    forget: yield* makeForget({ books, setMax }),
    check: Effect.fn("Ledger.check")((command) => check({ ...command, store, lotRules, lotsMax })),
    balances: Effect.fn("Ledger.balances")((account, at) => findBalances({ store, account, at, lotRules, lotsMax })),
    entries: Effect.fn("Ledger.entries")(({ account, before, limit = 100, reference }) => {
      Check.limit("The limit of a list of entries", limit, 1_000)
      return store.findTransactions({ account, reference, before, limit })
    }),
    statement: Effect.fn("Ledger.statement")((request) => {
      Check.limit("The limit of a statement", request.limit ?? 1, 1_000)
      return findStatement(store, request)
    }),
    verify: Effect.fn("Ledger.verify")(
      ({ account, accountsMax = Infinity, after = "", discrepanciesMax = 100 } = {}) => {
        Check.limit("The limit of discrepancies", discrepanciesMax, 10_000)
        return verify({ store, account, accountsMax, after, discrepanciesMax })
      }
    ),
    trialBalance: store.findMoved.pipe(Effect.map(trialBalanceOf), atomically, Effect.withSpan("Ledger.trialBalance"))
  })
})

/** Creates a ledger over a store. */
export const layerWith = (
  options: LedgerOptions
): Layer.Layer<Ledger, never, LedgerStore | SecureRandom.SecureRandom | UnitOfWork.UnitOfWork> =>
  Layer.effect(Ledger, make(options))

/** `layerWith` with default options. */
export const layer: Layer.Layer<Ledger, never, LedgerStore | SecureRandom.SecureRandom | UnitOfWork.UnitOfWork> =
  layerWith({})

/** A ledger in the memory of the process, for tests. Its books end with the layer's scope. */
export const layerMemory: Backend.MemoryLayer<Ledger> = layer.pipe(
  Backend.memory(MemoryLedgerStore.layer)
)

/** A ledger in Postgres. Brings the ledger's tables up to date when the layer is built. */
export const layerPostgres = (
  { schema, ...options }: LedgerOptions & Backend.SchemaOptions = {}
): Backend.PostgresLayer<Ledger> => layerWith(options).pipe(Backend.postgres(Backend.inSchema(SqlLedgerStore, schema)))

/**
 * Books expired lots and holds in the background, on average every `interval` (default 1 minute),
 * `limit` of them per unit of work (default 500). Logs failures and continues. Any number of
 * processes may run it. Dies when it is built if `limit` exceeds the `setMax` of the ledger.
 */
export const layerSweep = Sweep.make({
  name: "expired lots",
  interval: "1 minute",
  limit: 500,
  limitMax: Ledger.useSync(({ setMax }) => setMax),
  run: Effect.fnUntraced(function*(limit) {
    const { expire } = yield* Ledger
    const { holds, lots } = yield* expire({ at: yield* DateTime.now, limit })
    return holds + lots > 0 ? limit : 0 // Runs again, for accounts that others have locked.
  })
})
