/** The immutable state behind `Books`, account by account, and the changes that it carries. */
import { DateTime, type Duration, HashMap, Option } from "effect"
import type { Hold } from "../Hold.ts"
import type { Lot, LotId } from "../Lot.ts"
import { type Transaction, TransactionId } from "../Transaction.ts"
import type { Day } from "./Day.ts"
import * as IdSequence from "./IdSequence.ts"
import type { LotRules } from "./lots.ts"
import * as Metadata from "./metadata.ts"
import type { Changes, Loaded, LotChange, QuotaChange, QuotaCount, TransactionName } from "./stored.ts"

/** Books of some accounts. */
export interface BooksState {
  readonly accounts: HashMap.HashMap<string, AccountState>
  /** Keys of the transactions that were requested when the books were loaded. */
  readonly requested: ReadonlySet<string>
  /** The earliest and the latest time of commands. */
  readonly at: DateTime.Utc
  readonly until: DateTime.Utc
  /** How far the clock of the storage is ahead of the caller's, in milliseconds. */
  readonly aheadMillis: number
  /** The lifetime of lots that refunds and releases open. */
  readonly refundLifetime: Duration.Duration
  /** The longest time until a hold expires. */
  readonly holdLifetimeMax: Duration.Duration
  /** The maximum number of open holds of an account. */
  readonly holdsMax: number
  readonly lotRules: LotRules
  readonly ids: IdSequence.IdSequence
}

/** The part of one account. */
export interface AccountState {
  /** In spending order. */
  readonly lots: ReadonlyArray<Lot>
  readonly quotas: ReadonlyArray<QuotaCount>
  /** Loaded and booked transactions by key. */
  readonly transactions: HashMap.HashMap<string, Transaction>
  /** The refunded amount of each charge that has refunds. */
  readonly refunded: HashMap.HashMap<TransactionId, number>
  /** Loaded and opened holds by reference. */
  readonly holds: HoldsByReference
  /** How many open holds the account has, if that was loaded. */
  readonly openHolds: number
  /** Transactions that are not saved yet. */
  readonly booked: ReadonlyArray<Transaction>
  /** Lots, counters and holds as the store has them. */
  readonly stored: Pick<AccountState, "lots" | "quotas" | "holds">
}

type HoldsByReference = HashMap.HashMap<string, Hold>

/** Loaded values and settings of new books. */
export interface BooksOptions extends Omit<BooksState, "accounts" | "aheadMillis" | "requested"> {
  readonly loaded: Loaded
  /** Transactions that commands may book or look up. The ones that exist are in `loaded`. */
  readonly requested: ReadonlyArray<TransactionName>
}

/** Creates books from what was loaded. */
export const make = ({ loaded, requested, ...settings }: BooksOptions): BooksState => {
  const lots = groupByAccount(loaded.lots)
  const quotas = groupByAccount(loaded.quotas)
  const transactions = groupByAccount(loaded.transactions)
  const holds = groupByAccount(loaded.holds)
  const openHolds = new Map(loaded.openHolds.map(({ account, count }) => [account, count]))
  const names = new Set([lots, quotas, transactions, holds, openHolds].flatMap((found) => [...found.keys()]))
  return {
    ...settings,
    accounts: HashMap.fromIterable(Array.from(names, (name): readonly [string, AccountState] => {
      const stored = {
        lots: (lots.get(name) ?? []).toSorted(settings.lotRules.spendingOrder),
        quotas: quotas.get(name) ?? [],
        holds: HashMap.fromIterable((holds.get(name) ?? []).map((hold) => [hold.reference, hold]))
      }
      const found = transactions.get(name) ?? []
      return [name, {
        ...stored,
        transactions: HashMap.fromIterable(found.map((one) => [keyOf(one), one])),
        refunded: found.reduce(addRefund, HashMap.empty()),
        openHolds: openHolds.get(name) ?? 0,
        booked: [],
        stored
      }]
    })),
    requested: new Set(requested.map(fullKeyOf)),
    aheadMillis: loaded.aheadMillis ?? 0
  }
}

/**
 * Returns the time of a command by the clock of the storage, which decides whether a lot has
 * expired and to which day a charge counts. Hosts whose clocks differ agree on it.
 */
export const storageTime = (books: BooksState, at: DateTime.Utc): DateTime.Utc =>
  DateTime.add(at, { milliseconds: books.aheadMillis })

/** Throws unless the transaction was requested when the books were loaded, for a span that contains `at`. */
export const checkRequested = (books: BooksState, name: TransactionName, at: DateTime.Utc): void => {
  if (!books.requested.has(fullKeyOf(name))) {
    throw new Error(
      `The ${name.kind} ${name.reference} of ${name.account} was not requested when the books were loaded`
    )
  }
  if (DateTime.isLessThan(at, books.at) || DateTime.isGreaterThan(at, books.until)) {
    throw new Error(`The time of the ${name.kind} ${name.reference} is outside the span that the books were loaded for`)
  }
}

/** Returns the part of an account. It is empty if nothing was loaded for the account. */
export const accountOf = (books: BooksState, account: string): AccountState =>
  Option.getOrElse(HashMap.get(books.accounts, account), () => noAccount)

/** Returns the transaction of this kind and reference, if there is one. */
export const findTransaction = (
  account: AccountState,
  name: Omit<TransactionName, "account">
): Transaction | undefined => Option.getOrUndefined(HashMap.get(account.transactions, keyOf(name)))

/** Returns how much of a charge was refunded. */
export const refundedOf = ({ refunded }: AccountState, charge: Transaction): number =>
  Option.getOrElse(HashMap.get(refunded, charge.id), () => 0)

/** Returns the hold with this reference, if there is one. */
export const findHold = ({ holds }: AccountState, reference: string): Hold | undefined =>
  Option.getOrUndefined(HashMap.get(holds, reference))

/** Adds a hold, or replaces the one with its reference. */
export const setHold = (account: AccountState, hold: Hold): AccountState => ({
  ...account,
  holds: HashMap.set(account.holds, hold.reference, hold),
  openHolds: account.openHolds + (hold.state === "open" ? 1 : -1)
})

/** Returns the lot. Throws if it was not loaded, which means that the books name a lot that does not exist. */
export const lotOf = (account: AccountState, id: LotId): Lot => {
  const lot = account.lots.find((lot) => lot.id === id)
  if (lot === undefined) throw new Error(`The lot ${id} does not exist`)
  return lot
}

/** Returns the count of a quota on a day. */
export const usedOf = (account: AccountState, kind: string, day: Day): number => usedIn(account.quotas, kind, day)

/** Replaces lots, by id. */
export const replaceLots = (account: AccountState, replaced: ReadonlyArray<Lot>): AccountState => {
  const lots = account.lots.slice()
  for (const lot of replaced) lots[lots.findIndex(({ id }) => id === lot.id)] = lot
  return { ...account, lots }
}

/** Adds lots. */
export const openLots = (
  account: AccountState,
  opened: ReadonlyArray<Lot>,
  { spendingOrder }: LotRules
): AccountState =>
  opened.length === 0 ? account : { ...account, lots: [...account.lots, ...opened].toSorted(spendingOrder) }

/** Replaces or adds a counter. */
export const setUsed = (account: AccountState, count: QuotaCount): AccountState => {
  const others = account.quotas.filter(({ day, kind }) => kind !== count.kind || day !== count.day)
  return { ...account, quotas: [...others, count] }
}

/** Appends a transaction. */
export const book = (account: AccountState, transaction: Transaction): AccountState => ({
  ...account,
  transactions: HashMap.set(account.transactions, keyOf(transaction), transaction),
  refunded: addRefund(account.refunded, transaction),
  booked: [...account.booked, transaction]
})

/** Draws the id of the transaction of a command. Throws if its metadata is invalid. */
export const nextTransaction = (
  sequence: IdSequence.IdSequence,
  kind: Transaction["kind"],
  { account, at, metadata, reference }:
    & Pick<Transaction, "account" | "at" | "reference">
    & Partial<Pick<Transaction, "metadata">>
) => {
  const { rest, uuid } = IdSequence.next(sequence)
  return {
    ids: rest,
    transaction: {
      id: TransactionId.fromUuid(uuid),
      account,
      kind,
      reference,
      part: undefined,
      at,
      reverses: undefined,
      metadata: metadata === undefined ? undefined : Metadata.copyOf(metadata)
    }
  }
}

/** Replaces the part of an account. */
export const withAccount = <Books extends BooksState>(
  books: Books,
  name: string,
  account: AccountState,
  ids: IdSequence.IdSequence
): Books => ({ ...books, ids, accounts: HashMap.set(books.accounts, name, account) })

/** Returns the changes since the books were loaded or marked as saved. */
export const changesOf = (books: BooksState): Changes => {
  const changes = Array.from(HashMap.values(books.accounts), changesOfAccount)
  return {
    openedLots: changes.flatMap(({ openedLots }) => openedLots),
    changedLots: changes.flatMap(({ changedLots }) => changedLots),
    quotas: changes.flatMap(({ quotas }) => quotas),
    transactions: changes.flatMap(({ transactions }) => transactions),
    openedHolds: changes.flatMap(({ openedHolds }) => openedHolds),
    endedHolds: changes.flatMap(({ endedHolds }) => endedHolds)
  }
}

/** Returns the same books without changes. */
export const markSaved = <Books extends BooksState>(books: Books): Books => ({
  ...books,
  accounts: HashMap.map(books.accounts, (account) => ({
    ...account,
    booked: [],
    stored: { lots: account.lots, quotas: account.quotas, holds: account.holds }
  }))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const noAccount: AccountState = {
  lots: [],
  quotas: [],
  transactions: HashMap.empty(),
  refunded: HashMap.empty(),
  holds: HashMap.empty(),
  openHolds: 0,
  booked: [],
  stored: { lots: [], quotas: [], holds: HashMap.empty() }
}

const changesOfAccount = (account: AccountState): Changes => {
  const { booked, stored } = account
  const before = new Map(account.lots === stored.lots ? [] : stored.lots.map((lot) => [lot.id, lot]))
  const lots = account.lots === stored.lots ? [] : account.lots
  return {
    openedLots: lots.filter(({ id }) => !before.has(id)),
    changedLots: lots.flatMap((lot): ReadonlyArray<LotChange> => {
      const old = before.get(lot.id)
      if (old === undefined || old === lot) return []
      return [{ lot: lot.id, credits: lot.remaining - old.remaining, closed: lot.closed }]
    }),
    quotas: account.quotas
      .filter((count) => !stored.quotas.includes(count))
      .map((count): QuotaChange => ({ ...count, before: usedIn(stored.quotas, count.kind, count.day) })),
    transactions: booked,
    ...changesOfHolds(account)
  }
}

const changesOfHolds = ({ holds, stored }: AccountState): Pick<Changes, "openedHolds" | "endedHolds"> => {
  if (holds === stored.holds) return { openedHolds: [], endedHolds: [] }
  const all = Array.from(HashMap.values(holds))
  const before = new Map(HashMap.toEntries(stored.holds))
  return {
    openedHolds: all.filter(({ reference }) => !before.has(reference)),
    endedHolds: all
      .filter((hold) => before.has(hold.reference) && before.get(hold.reference) !== hold)
      .map(({ account, reference, state }) => ({ account, reference, state }))
  }
}

const usedIn = (quotas: ReadonlyArray<QuotaCount>, kind: string, day: Day): number =>
  quotas.find((count) => count.kind === kind && count.day === day)?.used ?? 0

/** Adds a refund to what was refunded of its charge. Changes nothing for other transactions. */
const addRefund = (
  refunded: AccountState["refunded"],
  { amount, kind, reverses }: Transaction
): AccountState["refunded"] =>
  reverses === undefined || kind !== "refund"
    ? refunded
    : HashMap.set(refunded, reverses, amount + Option.getOrElse(HashMap.get(refunded, reverses), () => 0))

/** References contain no line feed, so different names have different keys. */
const keyOf = ({ kind, part = "", reference }: Omit<TransactionName, "account">) => `${kind}\n${reference}\n${part}`

const fullKeyOf = (name: TransactionName) => `${name.account}\n${keyOf(name)}`

const groupByAccount = <A extends { readonly account: string }>(all: ReadonlyArray<A>): Map<string, Array<A>> =>
  Map.groupBy(all, ({ account }) => account)
