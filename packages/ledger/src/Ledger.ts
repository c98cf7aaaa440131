/**
 * The billing ledger: credits in lots, daily quotas, charges and refunds.
 *
 * Every movement is booked in double entry, and what a lot holds or a day has used
 * is a projection of the books that `verify` compares with them. An account is
 * charged once for a reference and refunded at most once, whatever happens twice.
 */
import { Folding } from "@kinora/persistence"
import type { Proposal } from "@kinora/persistence/Proposal"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, Duration, Effect, Layer, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Audit from "./Audit.ts"
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
import * as Day from "./Day.ts"
import type { AlreadyGranted, GrantCommand, Granted, GrantExpired } from "./Grant.ts"
import * as Books from "./internal/Books.ts"
import * as Check from "./internal/Check.ts"
import * as IdSequence from "./internal/IdSequence.ts"
import { type Changes, type ExpiredLot, LedgerStore, type TransactionName } from "./LedgerStore.ts"
import * as Lot from "./Lot.ts"
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
   * Compares the books with the figures that are kept beside them, for one account,
   * for all, or for a page of them, while others go on working (D24).
   */
  readonly verify: (options?: VerifyOptions) => Effect.Effect<Verification, StorageError>
}>()("@kinora/ledger/Ledger") {}

/** The most credits that one lot can hold or one charge can cost: a million millions. */
export const creditsMax: number = Check.creditsMax

/** What a ledger can be told. */
export interface LedgerOptions {
  /** How long a lot lives that a refund opens in place of an expired one. Default 30 days (D22). */
  readonly refundLifetime?: Duration.Input | undefined
  /** A charge draws on the first so many live lots of its account. Default 1,000. */
  readonly lotsMax?: number | undefined
  /** At most this many commands or announced references in one unit; more are a defect. Default 1,000. */
  readonly setMax?: number | undefined
  /** At most this many concurrent single calls share a unit. Default 64. */
  readonly foldMax?: number | undefined
}

/** A ledger over a store. */
export const make = Effect.fnUntraced(function*(options: LedgerOptions = {}) {
  const { foldMax = 64, lotsMax = 1_000, setMax = 1_000 } = options
  const refundLifetime = Duration.fromInputUnsafe(options.refundLifetime ?? Duration.days(30))
  const store = yield* LedgerStore
  const random = yield* SecureRandom.SecureRandom
  const { atomically, isOpen } = yield* UnitOfWork

  const openBooks = Effect.fnUntraced(function*({ announced, at, lots = [], until = at }: Announcement) {
    if (!(yield* isOpen)) return yield* Effect.die(new Error("The ledger was opened outside a unit of work"))
    Check.limit("A set of references", Math.max(1, announced.length), setMax)
    for (const { account, reference } of announced) {
      Check.name("An account", account, 128)
      Check.name("A reference", reference, 128)
    }
    const named = [...announced, ...lots]
    const loaded = yield* store.load({
      accounts: [...new Set(named.map(({ account }) => account))].toSorted(),
      transactions: eachOnce(announced).flatMap(withRefund),
      lots: lots.map(({ lot }) => lot),
      liveAfter: at,
      liveMax: lotsMax,
      days: { first: Day.of(at), last: Day.of(until) }
    })
    const nextId = yield* Effect.provideService(IdSequence.make, SecureRandom.SecureRandom, random)
    return Books.make({ loaded, announced, at, until, refundLifetime, nextId })
  })

  const save = (books: Books.Books) =>
    Effect.suspend(() => {
      const changes = books.takeChanges()
      return hasChanges(changes) ? store.save(changes) : Effect.void
    })

  /** Decides a set in one unit and keeps what is accepted. */
  const decideAll = <Command extends Named & { readonly at: DateTime.Utc }, A, Refusal>(
    kind: "charge" | "grant",
    commands: ReadonlyArray<Command>,
    decide: (books: Books.Books, command: Command) => Result.Result<Proposal<A>, Refusal>
  ) =>
    Effect.gen(function*() {
      if (commands.length === 0) return []
      const times = commands.map(({ at }) => at)
      const books = yield* openBooks({
        announced: commands.map(({ account, reference }) => ({ account, kind, reference })),
        at: times.reduce((earliest, at) => DateTime.min(earliest, at)),
        until: times.reduce((latest, at) => DateTime.max(latest, at))
      })
      const answers = commands.map((command) => Result.map(decide(books, command), keep))
      yield* save(books)
      return answers
    }).pipe(atomically)

  const chargeAll = Effect.fn("Ledger.chargeAll")((commands: ReadonlyArray<ChargeCommand>) =>
    decideAll("charge", commands, (books, command) => books.charge(command))
  )
  const refundAll = Effect.fn("Ledger.refundAll")((commands: ReadonlyArray<RefundCommand>) =>
    decideAll("charge", commands, (books, command) => books.refund(command))
  )
  const grantAll = Effect.fn("Ledger.grantAll")((commands: ReadonlyArray<GrantCommand>) =>
    decideAll("grant", commands, (books, command) => books.grant(command))
  )
  const fold = { membersMax: foldMax }

  return Ledger.of({
    open: Effect.fn("Ledger.open")(function*({ at, charges = [], grants = [], until }: OpenOptions) {
      const books = yield* openBooks({
        announced: [
          ...charges.map(({ account, reference }) => ({ account, kind: "charge", reference } as const)),
          ...grants.map(({ account, reference }) => ({ account, kind: "grant", reference } as const))
        ],
        at,
        until
      })
      return { charge: books.charge, refund: books.refund, grant: books.grant, save: save(books) }
    }),

    charge: yield* Folding.make({ ...fold, name: "Ledger.charge", run: chargeAll }),
    chargeAll,
    refund: yield* Folding.make({ ...fold, name: "Ledger.refund", run: refundAll }),
    refundAll,
    grant: yield* Folding.make({ ...fold, name: "Ledger.grant", run: grantAll }),
    grantAll,

    expire: Effect.fn("Ledger.expire")(function*({ at, limit = 500 }) {
      Check.limit("The limit of an expiry sweep", limit, setMax)
      const lots = yield* store.findExpired(at, limit)
      if (lots.length === 0) return { lots: 0, credits: 0 }
      const books = yield* openBooks({ announced: [], lots, at })
      const booked = lots.map(({ lot }) => keep(books.expire(lot, at))).filter((credits) => credits !== undefined)
      yield* save(books)
      return { lots: booked.length, credits: booked.reduce((sum, credits) => sum + credits, 0) }
    }, atomically),

    balances: Effect.fn("Ledger.balances")(function*(account, at) {
      const day = Day.of(at)
      const { lots, quotas } = yield* store.findBalances({ account, at, day, lotsMax })
      const spendable = lots.filter((lot) => Lot.isSpendable(lot.kind))
      return {
        account,
        lots: lots.toSorted(Lot.spendingOrder),
        credits: sumOf(spendable),
        creditsImagesOnly: sumOf(spendable.filter((lot) => lot.imagesOnly)),
        day,
        resetsAt: Day.endOf(at),
        quotaUsed: new Map(quotas.map(({ kind, used }) => [kind, used]))
      }
    }),

    entries: Effect.fn("Ledger.entries")(function*({ account, before, limit = 100, reference }) {
      Check.limit("The limit of a list of entries", limit, 1_000)
      return yield* store.findTransactions({ account, reference, before, limit })
    }),

    verify: Effect.fn("Ledger.verify")(function*({ account, accountsMax, after = "", discrepanciesMax = 100 } = {}) {
      Check.limit("The limit of discrepancies", discrepanciesMax, 10_000)
      let verification: Verification = { accounts: 0, totals: Audit.noTotals, discrepancies: [], next: undefined }
      let last = after
      while (true) {
        const room = Math.min(auditedMax, (accountsMax ?? Infinity) - verification.accounts)
        // One more than there is room for tells whether any is left.
        const found = account === undefined ? yield* store.findAccounts(last, room + 1) : [account]
        const accounts = found.slice(0, room)
        last = accounts.at(-1) ?? last
        const audited = yield* store.audit({ accounts, discrepanciesMax })
        verification = {
          accounts: verification.accounts + accounts.length,
          totals: Audit.addTotals(verification.totals, audited.totals),
          discrepancies: [...verification.discrepancies, ...audited.discrepancies].slice(0, discrepanciesMax),
          next: found.length > accounts.length ? last : undefined
        }
        if (verification.next === undefined || verification.accounts === accountsMax) return verification
      }
    })
  })
})

/** A ledger that was told `options`. */
export const layerWith = (
  options: LedgerOptions
): Layer.Layer<Ledger, never, LedgerStore | SecureRandom.SecureRandom | UnitOfWork> =>
  Layer.effect(Ledger, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<Ledger, never, LedgerStore | SecureRandom.SecureRandom | UnitOfWork> = layerWith({})

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
  readonly lots: ReadonlyArray<Lot.Lot>
  /** Credits that charges can spend: all lots but trial ones. */
  readonly credits: number
  /** How many of `credits` pay for images only. */
  readonly creditsImagesOnly: number
  /** The UTC day of the counters. */
  readonly day: Day.Day
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
  /** Of all accounts, those behind this one: the `next` of an earlier verification. Default: from the first on. */
  readonly after?: string | undefined
  /** Of all accounts, at most this many, at least 1. Default: as many as there are. */
  readonly accountsMax?: number | undefined
  /** At most this many discrepancies are returned. Default 100. */
  readonly discrepanciesMax?: number | undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Accounts that one statement of `verify` compares. */
const auditedMax = 100

interface Announcement {
  readonly announced: ReadonlyArray<TransactionName>
  readonly lots?: ReadonlyArray<ExpiredLot> | undefined
  readonly at: DateTime.Utc
  readonly until?: DateTime.Utc | undefined
}

/** A charge's refund is loaded with it: it says whether there was one. */
const withRefund = (name: TransactionName): ReadonlyArray<TransactionName> =>
  name.kind === "charge" ? [name, { ...name, kind: "refund" }] : [name]

const eachOnce = (names: ReadonlyArray<TransactionName>): ReadonlyArray<TransactionName> => [
  ...new Map(names.map((name) => [`${name.kind}\n${name.account}\n${name.reference}`, name])).values()
]

const keep = <A>(proposal: Proposal<A>): A => {
  proposal.keep()
  return proposal.value
}

const hasChanges = (changes: Changes): boolean => changes.changedLots.length > 0 || changes.transactions.length > 0

const sumOf = (lots: ReadonlyArray<Lot.Lot>): number => lots.reduce((sum, lot) => sum + lot.remaining, 0)
