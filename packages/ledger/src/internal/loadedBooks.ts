/** Loads books inside a unit of work, and saves them. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type DateTime, Duration, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Books } from "../Books.ts"
import { LedgerStore } from "../LedgerStore.ts"
import * as State from "./booksState.ts"
import * as Check from "./check.ts"
import * as IdSequence from "./IdSequence.ts"
import type { LotRules } from "./lots.ts"
import type { ExpiredLot, Loaded, TransactionName } from "./stored.ts"

/** Rules and limits of a unit of work. */
export interface Options {
  readonly lotRules: LotRules
  readonly lotsMax: number
  readonly refundLifetime: Duration.Input
  readonly holdLifetimeMax: Duration.Input
  readonly holdsMax: number
  readonly setMax: number
}

/** A reference of an account. */
interface Named {
  readonly account: string
  readonly reference: string
}

/** The accounts and references that a unit of work is going to decide on. */
export interface LoadRequest {
  /** References that commands will charge or refund. Others are a defect. */
  readonly charges?: ReadonlyArray<Named> | undefined
  /** References that commands will grant. Others are a defect. */
  readonly grants?: ReadonlyArray<Named> | undefined
  /** References that commands will hold, capture or release. Others are a defect. */
  readonly holds?: ReadonlyArray<Named> | undefined
  /** The earliest `at` of the commands. */
  readonly at: DateTime.Utc
  /** The latest `at` of the commands. Default: `at`. */
  readonly until?: DateTime.Utc | undefined
}

/** References and lots to load. */
export interface Request extends LoadRequest {
  /** Lots to close. */
  readonly lots?: ReadonlyArray<ExpiredLot> | undefined
}

/** The two operations. */
export type LoadedBooks = Effect.Success<ReturnType<typeof make>>

/** Creates the operations over the store. */
export const make = Effect.fnUntraced(
  function*({ holdLifetimeMax, holdsMax, lotRules, lotsMax, refundLifetime, setMax }: Options) {
    const store = yield* LedgerStore
    const { isOpen } = yield* UnitOfWork
    const newIds = Effect.provideService(
      IdSequence.make,
      SecureRandom.SecureRandom,
      yield* SecureRandom.SecureRandom
    )

    const load = Effect.fnUntraced(function*(request: Request) {
      const { at, charges = [], grants = [], holds = [], lots = [], until = at } = request
      if (!(yield* isOpen)) return yield* Effect.die(new Error("Ledger.load must be called inside a unit of work"))
      const requested = [
        ...charges.map(({ account, reference }): TransactionName => ({ account, kind: "charge", reference })),
        ...grants.map(({ account, reference }): TransactionName => ({ account, kind: "grant", reference })),
        ...holds.map(({ account, reference }): TransactionName => ({ account, kind: "hold", reference }))
      ]
      checkNames(requested, setMax)
      const accounts = [...new Set([...requested, ...lots].map(({ account }) => account))].toSorted()
      const loaded = accounts.length === 0 ? nothing : yield* store.load({
        accounts,
        transactions: withoutDuplicates(requested.flatMap(withRelated)),
        holdsOf: [...new Set(holds.map(({ account }) => account))],
        lots: lots.map(({ lot }) => lot),
        liveAfter: at,
        liveMax: lotsMax,
        days: { first: at, last: until }
      })
      const books: Books = State.make({
        loaded,
        requested,
        at,
        until,
        refundLifetime: Duration.fromInputUnsafe(refundLifetime),
        holdLifetimeMax: Duration.fromInputUnsafe(holdLifetimeMax),
        holdsMax,
        lotRules,
        ids: yield* newIds
      })
      return books
    })

    const save = Effect.fnUntraced(function*(books: Books) {
      const changes = State.changesOf(books)
      if (changes.changedLots.length === 0 && changes.transactions.length === 0) return books
      yield* store.save(changes)
      return State.markSaved(books)
    })

    return { load, save }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nothing: Loaded = { lots: [], quotas: [], transactions: [], holds: [], openHolds: [] }

const checkNames = (names: ReadonlyArray<TransactionName>, setMax: number): void => {
  Check.limit("The number of references in a unit of work", Math.max(1, names.length), setMax)
  for (const { account, reference } of names) {
    Check.name("An account", account, 128)
    Check.name("A reference", reference, 128)
  }
}

/**
 * Loads a charge's refunds with it, so that repeated refunds are recognized, and the charge of a hold, which stands for the
 * hold too.
 */
const withRelated = (name: TransactionName): ReadonlyArray<TransactionName> => {
  switch (name.kind) {
    case "charge":
      return [name, { ...name, kind: "refund" }]
    case "hold":
      return [name, { ...name, kind: "charge" }]
    default:
      return [name]
  }
}

const withoutDuplicates = (names: ReadonlyArray<TransactionName>): ReadonlyArray<TransactionName> => [
  ...new Map(names.map((name) => [`${name.kind}\n${name.account}\n${name.reference}`, name])).values()
]
