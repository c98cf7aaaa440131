/**
 * Budgets of amounts per UTC day, for example bytes, exact across processes: reserved and
 * used amounts together never exceed the limit.
 *
 * Reserve an amount before the work and settle it afterwards. For a long stream, reserve
 * block by block, so that not every chunk needs a statement.
 */
import * as Deletion from "@kinora/persistence/Deletion"
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Context, Data, DateTime, Duration, Effect, Layer } from "effect"
import type { Advances } from "./internal/advances.ts"
import * as Counter from "./internal/counter.ts"
import { makeGivenBackAdvances } from "./internal/givenBackAdvances.ts"
import { monotonicMillis } from "./internal/monotonic.ts"
import { makeTakeAll } from "./internal/takeAll.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** A request to reserve an amount. */
export interface BudgetRequest {
  /** Identifies the budget: a scope and an id. At most 256 characters. */
  readonly key: string
  /** The limit per UTC day, a whole number. It may differ between calls. */
  readonly limit: number
  /** A whole number, at least 0. Reserved in full or not at all. */
  readonly amount: number
  /**
   * The maximum amount that this process may take in advance for later requests of the key, if it has
   * `BudgetOptions.advance`. A killed process leaves at most this amount counted that nobody used. Default 0.
   */
  readonly advanceMax?: number | undefined
  /**
   * Whether a request that does not fit waits three times `BudgetOptions.advance` and tries once more, because processes give
   * back what they took in advance after twice that time at the latest. Inside a transaction it does not wait. Default false.
   */
  readonly mayWait?: boolean | undefined
}

/** A reserved amount of a day. */
export interface Reservation {
  readonly key: string
  /** The number of days since 1970. */
  readonly day: number
  readonly amount: number
}

/** Fields of all results. The times are those of the storage. */
interface Standing {
  /** The amount that the day has left. */
  readonly remaining: number
  /** The time of the request. */
  readonly at: DateTime.Utc
  /** The next 00:00 UTC. */
  readonly resetsAt: DateTime.Utc
}

/** The result of a request. */
export type Reserved = Data.TaggedEnum<{
  Granted: Standing & { readonly reservation: Reservation }
  Refused: Standing
}>

/** Constructors and matchers of the results. */
export const Reserved = Data.taggedEnum<Reserved>()

/** Budgets per UTC day. */
export class Budget extends Context.Service<Budget, {
  /** Reserves an amount if the day has it left. Without a `settle` it counts as used until the day ends. */
  readonly reserve: (request: BudgetRequest) => Effect.Effect<Reserved, StorageError>

  /** Reserves several amounts in one unit of work. Returns one result per request, in order. */
  readonly reserveAll: (
    requests: ReadonlyArray<BudgetRequest>
  ) => Effect.Effect<ReadonlyArray<Reserved>, StorageError>

  /**
   * Replaces a reserved amount by the amount that was used, in the day of the reservation.
   * More than was reserved is counted regardless of the limit. Call it once.
   */
  readonly settle: (reservation: Reservation, used: number) => Effect.Effect<void, StorageError>

  /** Returns the used and reserved amount of the current day. */
  readonly used: (key: string) => Effect.Effect<number, StorageError>

  /**
   * Deletes the amounts of a key of all days, for example because a person asks for it. Returns the number of days. The key
   * begins anew. Works in sets of `rowsMax` days (1 to 10,000, default 1,000), each a unit of work of its own, or all in the
   * transaction of the caller. Waits for units that have locked an amount. Idempotent.
   *
   * A later `reserve` or `settle` stores the key again, and so do other processes that give back what they took in advance,
   * until the day after ends. So end the use of the key first.
   */
  readonly forget: (
    command: { readonly key: string; readonly rowsMax?: number | undefined }
  ) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` counters of days before yesterday. Returns the number of deleted counters. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/Budget") {}

/** Options of budgets. */
export interface BudgetOptions {
  /** The time for which this process may keep amounts that it took in advance (`BudgetRequest.advanceMax`). Default 0, none. */
  readonly advance?: Duration.Input | undefined
  /** The maximum number of keys with amounts that were taken in advance. Default 10,000. */
  readonly advanceKeysMax?: number | undefined
}

const make = Effect.fnUntraced(function*(options: BudgetOptions) {
  const store = yield* RateLimitStore
  const { afterCommit, atomically, isOpen } = yield* UnitOfWork
  const advances = yield* makeGivenBackAdvances("day", options)
  const takeAll = yield* makeTakeAll("day", advances)

  // The takes of a call usually belong to one owner, so the first key stands for the rows that they lock.
  const takeFolded = yield* Folding.make({
    name: "Budget.reserve",
    membersMax: 1024,
    keyOf: ([first]: ReadonlyArray<Counter.Take>) => first?.key ?? "",
    run: Effect.fnUntraced(function*(calls: ReadonlyArray<ReadonlyArray<Counter.Take>>) {
      const results = yield* takeAll(calls.flat())
      let next = 0
      return calls.map(({ length }) => results.slice(next, next += length))
    })
  })

  const settleFolded = yield* Folding.make({
    name: "Budget.settle",
    membersMax: 1024,
    keyOf: ({ key }: Counter.Amount) => key,
    run: (amounts: ReadonlyArray<Counter.Amount>) => Effect.as(store.add("day", summed(amounts)), amounts)
  })

  const reserveAll = makeReserveAll({ advances, isOpen, takeFolded, add: settleFolded })
  const reserve = (request: BudgetRequest) => Effect.map(reserveAll([request]), ([reserved]) => reserved!)

  const settle = Effect.fn("Budget.settle")(({ amount, day, key }: Reservation, used: number) =>
    used === amount ? Effect.void : Effect.asVoid(settleFolded({ key, period: day, amount: used - amount }))
  )

  const used = Effect.fn("Budget.used")(function*(key: string) {
    const read = Effect.map(
      store.read("day", [{ key, window: Counter.windows.day }]),
      ([counter]) => counter === undefined ? 0 : counter.used - (advances?.leftOf(counter) ?? 0)
    )
    return yield* advances === undefined ? read : advances.read(key, read)
  })

  const forget: Budget["Service"]["forget"] = Effect.fn("Budget.forget")(function*({ key, rowsMax }) {
    const run = (limit: number) => atomically(store.forget("day", key, limit))
    const deleted = yield* Deletion.inSets({ name: "Budget.forget", limit: rowsMax, run })
    yield* afterCommit(Effect.sync(() => advances?.drop(key)))
    return deleted
  })

  const sweep = Effect.fn("Budget.sweep")(function*(limit: number) {
    // Yesterday is needed for reservations that are settled after midnight.
    return yield* store.sweepCounters("day", 1, limit)
  })

  return Budget.of({ reserve, reserveAll, settle, used, forget, sweep })
})

/** Creates budgets over the surrounding store. */
export const layerWith = (options: BudgetOptions): Layer.Layer<Budget, never, RateLimitStore | UnitOfWork> =>
  Layer.effect(Budget, make(options))

/** `layerWith` with default options. */
export const layer: Layer.Layer<Budget, never, RateLimitStore | UnitOfWork> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The parts of a budget that reserve amounts. */
interface Reserving {
  readonly advances: Advances | undefined
  readonly isOpen: Effect.Effect<boolean>
  readonly takeFolded: (
    takes: ReadonlyArray<Counter.Take>
  ) => Effect.Effect<ReadonlyArray<Counter.Taken>, StorageError>
  readonly add: (amount: Counter.Amount) => Effect.Effect<unknown, StorageError>
}

const makeReserveAll = ({ add, advances, isOpen, takeFolded }: Reserving) => {
  /** Returns the results of the takes that an advance covers. Inside a transaction there are none, since it may roll back. */
  const spend = (takes: ReadonlyArray<Counter.Take>): Effect.Effect<ReadonlyArray<Counter.Taken | undefined>> =>
    advances === undefined ?
      Effect.succeed(takes.map(() => undefined)) :
      Effect.flatMap(isOpen, (isInTransaction) =>
        Effect.map(Clock.Clock, (clock) => {
          const now = monotonicMillis(clock)
          return takes.map((take) => isInTransaction ? undefined : advances.spend(take, now))
        }))

  /** Gives back what is taken, once. If that fails, it stays counted until the day ends. */
  const giveBack = (takes: ReadonlyArray<Counter.Take>, known: ReadonlyArray<Counter.Taken | undefined>) =>
    Effect.forEach(takes, ({ cost, key }, index) => {
      const taken = known[index]
      return taken?.accepted === true ? Effect.ignore(add({ key, period: taken.period, amount: -cost })) : Effect.void
    }, { discard: true })

  /** Takes what has no result yet. Gives back the rest if that fails or is interrupted. */
  const takeRest = Effect.fnUntraced(function*(
    takes: ReadonlyArray<Counter.Take>,
    known: ReadonlyArray<Counter.Taken | undefined>
  ) {
    const open = takes.filter((_, index) => known[index] === undefined)
    const results = yield* Effect.onError(takeFolded(open), () => giveBack(takes, known))
    let next = 0
    return known.map((taken) => taken ?? results[next++]!)
  })

  /** Tries takes once more that did not fit, when all processes have given back what they took in advance. */
  const takeAgain = Effect.fnUntraced(function*(
    requests: ReadonlyArray<BudgetRequest>,
    takes: ReadonlyArray<Counter.Take>,
    taken: ReadonlyArray<Counter.Taken>
  ) {
    const known = taken.map((one, index) => one.accepted || requests[index]!.mayWait !== true ? one : undefined)
    if (advances === undefined || !known.includes(undefined) || (yield* isOpen)) return taken
    yield* Effect.sleep(Duration.millis(3 * advances.lastsMillis))
    return yield* takeRest(takes, known)
    // An interrupted call would not give back what is taken already.
  }, Effect.uninterruptible)

  // Without a span, as a hit: a download of many ranges reserves often. Each set has a span with the number of its members.
  return (requests: ReadonlyArray<BudgetRequest>) => {
    const takes = requests.map(takeOf)
    const reserved = (taken: ReadonlyArray<Counter.Taken>) =>
      takes.map((take, index) => reservedOf(take, taken[index]!))
    return Effect.flatMap(spend(takes), (spent) =>
      spent.every((taken) => taken !== undefined)
        ? Effect.succeed(reserved(spent))
        : Effect.map(Effect.flatMap(takeRest(takes, spent), (taken) => takeAgain(requests, takes, taken)), reserved))
  }
}

const takeOf = ({ advanceMax, amount, key, limit }: BudgetRequest): Counter.Take => ({
  key,
  window: Counter.windows.day,
  limit,
  cost: amount,
  advanceMax
})

const reservedOf = (
  { cost, key, limit }: Counter.Take,
  { accepted, at, endsAt, period, used }: Counter.Taken
): Reserved => {
  const standing: Standing = {
    remaining: Math.max(limit - used, 0),
    at: DateTime.makeUnsafe(Math.floor(at)),
    resetsAt: DateTime.makeUnsafe(endsAt)
  }
  return accepted
    ? Reserved.Granted({ ...standing, reservation: { key, day: period, amount: cost } })
    : Reserved.Refused(standing)
}

/** Adds up the amounts of each counter. */
const summed = (amounts: ReadonlyArray<Counter.Amount>): ReadonlyArray<Counter.Amount> => {
  const bySlot = new Map<string, Counter.Amount>()
  for (const amount of amounts) {
    const slot = Counter.slotText(amount)
    bySlot.set(slot, { ...amount, amount: amount.amount + (bySlot.get(slot)?.amount ?? 0) })
  }
  return Counter.sorted([...bySlot.values()])
}
