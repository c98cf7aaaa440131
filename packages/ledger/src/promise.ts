/**
 * The ledger for programs without Effect.
 *
 *     const ledger = await createLedger({ pool })
 *     await ledger.charge({ account: "ada", reference: "job-1", credits: 40 })
 *
 * Every call has the rules of the service `Ledger`. A call throws a `LedgerError` with a `code` if it is
 * refused, and a `StorageFailedError` if the database fails.
 */
import * as Backend from "@kinora/persistence/Backend"
import { type CallOptions, checkInputs, type Layers, make, type Plain, type Storage } from "@kinora/persistence/promise"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { DateTime, type Duration, Effect, Layer } from "effect"
import type * as Books from "./Books.ts"
import type * as Commands from "./internal/commands.ts"
import type { Forgotten } from "./internal/forget.ts"
import { errorOf } from "./internal/promise/errors.ts"
import { inputs } from "./internal/promise/inputs.ts"
import type { Revoked } from "./internal/revokeLot.ts"
import * as Service from "./Ledger.ts"
import type { LedgerError as Refusal } from "./LedgerError.ts"
import { LotId } from "./Lot.ts"
import * as MemoryLedgerStore from "./MemoryLedgerStore.ts"
import { type Transaction, TransactionId } from "./Transaction.ts"

export { StorageFailedError } from "@kinora/persistence/promise"
export {
  AlreadyChargedError,
  AlreadyHeldError,
  CaptureDiffersError,
  CaptureExceedsHoldError,
  GrantExpiredError,
  HoldEndedError,
  HoldExpiredError,
  IndivisibleChargeError,
  InsufficientCreditsError,
  LedgerError,
  QuotaExceededError,
  RefundExceedsChargeError,
  TooManyHoldsError,
  UnknownChargeError,
  UnknownHoldError,
  UnknownLotError
} from "./internal/promise/errors.ts"

/** Options of `createLedger`: the storage, and the options of the ledger. */
export type CreateLedgerOptions = Storage & Service.LedgerOptions & {
  /** Whether to book expired lots and holds in the background, once a minute. Default true. Any number of processes may. */
  readonly sweep?: boolean | undefined
}

/** The price of a charge: credits of lots, or an amount of a daily quota. */
type Amount =
  | Commands.Price
  | {
    /** The name of the quota, the maximum per UTC day, and how much the charge counts, by default 1. */
    readonly quota: Omit<Extract<Books.ChargeCommand["amount"], { readonly _tag: "Quota" }>, "_tag">
  }

/** The time of a call, and its transaction. */
interface Call extends CallOptions {
  /** Default: now. */
  readonly at?: Date | undefined
}

/** A grant of credits. */
type Grant = Call & Omit<Plain<Books.GrantCommand>, "at">

/** A hold of credits. */
type Hold =
  & Call
  & Omit<Books.HoldCommand, "at" | "expiresAt" | "within">
  & (
    | {
      /** When the hold expires, at most `holdLifetimeMax` from now. */
      readonly expiresAt: Date
      readonly within?: undefined
    }
    | {
      /** The time until the hold expires, at most `holdLifetimeMax`. */
      readonly within: Duration.Input
      readonly expiresAt?: undefined
    }
  )

/** A page of transactions. */
interface EntriesOptions extends CallOptions {
  readonly account: string
  /** Returns only transactions with this reference. */
  readonly reference?: string | undefined
  /** Returns only transactions older than this one: the last one of the previous page. */
  readonly before?: string | undefined
  /** 1 to 1,000. Default 100. */
  readonly limit?: number | undefined
}

/** A page of a statement. */
interface StatementOptions extends CallOptions {
  readonly account: string
  /** Returns transactions at this time or later. */
  readonly from: Date
  /** Returns transactions before this time. */
  readonly to: Date
  /** Continues after this transaction: the `next` of the previous page. */
  readonly after?: string | undefined
  /** 1 to 1,000. Default 100. */
  readonly limit?: number | undefined
}

/** A ledger. Its calls are those of the service `Ledger`, whose documentation describes them. */
export interface Ledger extends AsyncDisposable {
  /**
   * Charges an account once per reference. Throws `InsufficientCreditsError`, `QuotaExceededError`, `AlreadyChargedError`, or
   * `AlreadyHeldError` while a hold of the reference is open.
   */
  readonly charge: (
    command: Call & Amount & Pick<Books.ChargeCommand, "account" | "reference" | "metadata">
  ) => Promise<Plain<Commands.Charged>>
  /** Throws the error that `charge` would throw now. Reserves nothing. */
  readonly check: (command: Call & Amount & { readonly account: string }) => Promise<void>
  /**
   * Refunds all that is left of a charge, or a part of it once. Throws `UnknownChargeError`, `RefundExceedsChargeError` or
   * `IndivisibleChargeError`.
   */
  readonly refund: (command: Call & Omit<Books.RefundCommand, "at">) => Promise<Plain<Commands.Refunded>>
  /** Opens a lot once per reference. Throws `GrantExpiredError`. */
  readonly grant: (command: Grant) => Promise<Plain<Commands.Granted>>
  /**
   * Takes credits from lots until they are captured or released, or the hold expires. Throws `InsufficientCreditsError`,
   * `AlreadyHeldError`, `AlreadyChargedError`, `HoldExpiredError` or `TooManyHoldsError`.
   */
  readonly hold: (command: Hold) => Promise<Plain<Commands.Held>>
  /**
   * Charges at most the credits of a hold, and returns the rest. Throws `UnknownHoldError`, `HoldEndedError`,
   * `CaptureExceedsHoldError`, `CaptureDiffersError` or `AlreadyChargedError`.
   */
  readonly capture: (command: Call & Omit<Books.CaptureCommand, "at">) => Promise<Plain<Commands.Captured>>
  /** Returns the credits of a hold. Throws `UnknownHoldError`, and `HoldEndedError` if it was captured. */
  readonly release: (command: Call & Omit<Books.ReleaseCommand, "at">) => Promise<Plain<Commands.Released>>
  /** Closes a lot before it expires. Throws `UnknownLotError`. */
  readonly revoke: (
    command: Call & { readonly account: string; readonly lot: string }
  ) => Promise<Plain<Revoked>>
  /**
   * Erases an account: its holds and lots are ended, its name and its references are replaced by random ones, and metadata is
   * deleted. Repeat a call that was ended early. `limit` is the maximum number of transactions in one unit of work. Default 500.
   */
  readonly forget: (
    command: Call & { readonly account: string; readonly limit?: number | undefined }
  ) => Promise<Forgotten>
  /** Returns the balances of an account. */
  readonly balances: (query: Call & { readonly account: string }) => Promise<Plain<Service.Balances>>
  /** Returns transactions of an account, newest first. */
  readonly entries: (query: EntriesOptions) => Promise<ReadonlyArray<Plain<Transaction>>>
  /** Returns transactions of an account in a period, oldest first, each with the balance after it. */
  readonly statement: (query: StatementOptions) => Promise<Plain<Service.Statement>>
  /** Compares the books with the stored figures, for one account or for all. */
  readonly verify: (
    query?: CallOptions & { readonly account?: string | undefined }
  ) => Promise<Plain<Service.Verification>>
  /** Ends the background work, and the connections that the ledger has opened itself. */
  readonly close: () => Promise<void>
}

/**
 * Creates a ledger. Brings its tables up to date first. Rejects if the database is unavailable, or a newer build has removed
 * something from its tables.
 */
export const createLedger = async (options: CreateLedgerOptions): Promise<Ledger> => {
  const { close, run } = await make(layersOf(options), options)
  const call = <A>(
    { at, ...command }: Call,
    effect: (ledger: Service.Ledger["Service"], at: DateTime.Utc) => Effect.Effect<A, Refusal | StorageError>
  ) => {
    const time = at === undefined ? DateTime.now : Effect.succeed(DateTime.fromDateUnsafe(at))
    return run(Effect.flatMap(time, (at) => Service.Ledger.use((ledger) => effect(ledger, at))), command, errorOf)
  }

  return checkInputs<Ledger>({
    charge: (command) =>
      call(command, ({ charge }, at) => {
        const { account, metadata, reference } = command
        return charge({ account, reference, amount: amountOf(command), metadata, at })
      }),
    check: (command) =>
      call(command, ({ check }, at) => check({ account: command.account, amount: amountOf(command), at })),
    refund: (command) =>
      call(command, ({ refund }, at) => {
        const { account, metadata, part, reference } = command
        return refund({ account, metadata, part, reference, at })
      }),
    grant: (command) =>
      call(command, ({ grant }, at) => {
        const { expiresAt, signal: _signal, tx: _tx, ...rest } = command
        return grant({ ...rest, expiresAt: DateTime.fromDateUnsafe(expiresAt), at })
      }),
    hold: (command) =>
      call(command, ({ hold }, at) => {
        const { account, credits, kindsAllowed, metadata, purpose, reference } = command
        const expiry = command.expiresAt === undefined
          ? { within: command.within }
          : { expiresAt: DateTime.fromDateUnsafe(command.expiresAt) }
        return hold({ account, credits, kindsAllowed, metadata, purpose, reference, at, ...expiry })
      }),
    capture: (command) =>
      call(command, ({ capture }, at) => {
        const { account, credits, metadata, reference } = command
        return capture({ account, credits, metadata, reference, at })
      }),
    release: (command) =>
      call(command, ({ release }, at) => release({ account: command.account, reference: command.reference, at })),
    revoke: (command) =>
      call(command, ({ revoke }, at) => {
        const lot = LotId.parse(command.lot)
        if (lot === undefined) return Effect.die(new TypeError(`Expected the id of a lot, lot_…, got "${command.lot}"`))
        return revoke({ account: command.account, lot, at })
      }),
    forget: ({ limit, ...command }) =>
      call(command, ({ forget }, at) => forget({ account: command.account, limit, at })),
    balances: (query) => call(query, ({ balances }, at) => balances(query.account, at)),
    entries: (query) =>
      call(query, ({ entries }) => {
        const { account, before, limit, reference } = query
        return Effect.flatMap(transactionIdOf(before), (before) => entries({ account, before, limit, reference }))
      }),
    statement: (query) =>
      call({ signal: query.signal, tx: query.tx }, ({ statement }) => {
        const { account, after, limit } = query
        const [from, to] = [DateTime.fromDateUnsafe(query.from), DateTime.fromDateUnsafe(query.to)]
        return Effect.flatMap(transactionIdOf(after), (after) => statement({ account, from, to, after, limit }))
      }),
    verify: (query = {}) => call(query, ({ verify }) => verify({ account: query.account })),
    close,
    [Symbol.asyncDispose]: close
  }, inputs)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const layersOf = ({ sweep = true, ...options }: CreateLedgerOptions): Layers<Service.Ledger> => {
  const withSweep = <E, R>(layer: Layer.Layer<Service.Ledger | UnitOfWork, E, R>) =>
    sweep ? Layer.provideMerge(Service.layerSweep(), layer) : layer
  return {
    memory: withSweep(Service.layerWith(options).pipe(Backend.memory(MemoryLedgerStore.layer))),
    postgres: withSweep(Service.layerPostgres(options))
  }
}

const transactionIdOf = (text: string | undefined) => {
  const id = text === undefined ? undefined : TransactionId.parse(text)
  return id === undefined && text !== undefined
    ? Effect.die(new TypeError(`Expected the id of a transaction, txn_…, got "${text}"`))
    : Effect.succeed(id)
}

const amountOf = (amount: Amount): Books.ChargeCommand["amount"] => {
  if ("quota" in amount) {
    const { amount: counts, kind, limit } = amount.quota
    return { _tag: "Quota", kind, limit, amount: counts }
  }
  const { credits, kindsAllowed, purpose } = amount
  return { _tag: "Credits", credits, kindsAllowed, purpose }
}
