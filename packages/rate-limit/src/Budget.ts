/**
 * Amounts per UTC day: bytes per account and per result (D34). Exact across
 * processes: what is reserved and used never exceeds the limit.
 *
 * Reserve before sending, settle after. To keep the database out of the way of a
 * stream, reserve a block at a time.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Context, Data, DateTime, Effect, Layer } from "effect"
import * as Counter from "./Counter.ts"
import { takeAll } from "./internal/take.ts"
import { type Amount, RateLimitStore } from "./RateLimitStore.ts"

/** An amount that is asked for. */
export interface BudgetRequest {
  /** What is limited: a scope and an id. At most 256 characters. */
  readonly key: string
  /** Per UTC day; a whole number. Calls may differ; each is judged by its own. */
  readonly limit: number
  /** A whole number, at least 0. All of it is reserved or nothing. */
  readonly amount: number
}

/** An amount that is set aside, in the day it was reserved in. */
export interface Reservation {
  readonly key: string
  /** Days since 1970. */
  readonly day: number
  readonly amount: number
}

/** The answer to a request. `remaining` is what the day has left; it resets at `resetsAt`, 00:00 UTC. */
export type Reserved = Data.TaggedEnum<{
  Granted: { readonly reservation: Reservation; readonly remaining: number; readonly resetsAt: DateTime.Utc }
  Refused: { readonly remaining: number; readonly resetsAt: DateTime.Utc }
}>

/** See the type of the same name. */
export const Reserved = Data.taggedEnum<Reserved>()

/** Budgets per UTC day. */
export class Budget extends Context.Service<Budget, {
  /** Sets an amount aside if it fits the day. Without a `settle` it stays used until the day ends. */
  readonly reserve: (request: BudgetRequest) => Effect.Effect<Reserved, StorageError>

  /** `reserve` for several budgets at once, each for itself, in one statement. */
  readonly reserveAll: (
    requests: ReadonlyArray<BudgetRequest>
  ) => Effect.Effect<ReadonlyArray<Reserved>, StorageError>

  /**
   * Ends a reservation with what was used of it, in its own day: the rest is given
   * back, and more than was reserved is counted whatever the limit. Call it once.
   */
  readonly settle: (reservation: Reservation, used: number) => Effect.Effect<void, StorageError>

  /** What is used and reserved today. */
  readonly used: (key: string) => Effect.Effect<number, StorageError>

  /** Deletes up to `limit` counters of days before yesterday; answers how many. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/Budget") {}

const make = Effect.gen(function*() {
  const store = yield* RateLimitStore

  const takeFolded = yield* Folding.make({
    name: "Budget.reserve",
    membersMax: 1024,
    run: (takes: ReadonlyArray<Counter.Take>) => takeAll(store, "day", takes)
  })

  const settleFolded = yield* Folding.make({
    name: "Budget.settle",
    membersMax: 1024,
    run: (amounts: ReadonlyArray<Amount>) => Effect.as(store.add("day", summed(amounts)), amounts)
  })

  const today = Effect.map(Clock.currentTimeMillis, (now) => Counter.periodOf("day", now))

  const reserve = Effect.fn("Budget.reserve")(function*(request: BudgetRequest) {
    const take = takeOf(request, yield* today)
    return reservedOf(take, yield* takeFolded(take))
  })

  const reserveAll = Effect.fn("Budget.reserveAll")(function*(requests: ReadonlyArray<BudgetRequest>) {
    const day = yield* today
    const takes = requests.map((request) => takeOf(request, day))
    const answers = yield* takeAll(store, "day", takes)
    return takes.map((take, index) => reservedOf(take, answers[index]!))
  })

  const settle = Effect.fn("Budget.settle")(({ amount, day, key }: Reservation, used: number) =>
    used === amount ? Effect.void : Effect.asVoid(settleFolded({ key, period: day, amount: used - amount }))
  )

  const used = Effect.fn("Budget.used")(function*(key: string) {
    const [counter] = yield* store.read("day", [{ key, period: yield* today }])
    return counter?.used ?? 0
  })

  const sweep = Effect.fn("Budget.sweep")(function*(limit: number) {
    // Yesterday stays for reservations that are settled after midnight.
    return yield* store.sweepCounters("day", (yield* today) - 1, limit)
  })

  return Budget.of({ reserve, reserveAll, settle, used, sweep })
})

/** Budgets over the surrounding store. */
export const layer: Layer.Layer<Budget, never, RateLimitStore | UnitOfWork> = Layer.effect(Budget, make)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const takeOf = ({ amount, key, limit }: BudgetRequest, day: number): Counter.Take => ({
  key,
  period: day,
  limit,
  cost: amount
})

const reservedOf = ({ cost, key, limit, period }: Counter.Take, { accepted, used }: Counter.Answer): Reserved => {
  const remaining = Math.max(limit - used, 0)
  const resetsAt = DateTime.makeUnsafe(Counter.endOf("day", period))
  return accepted
    ? Reserved.Granted({ reservation: { key, day: period, amount: cost }, remaining, resetsAt })
    : Reserved.Refused({ remaining, resetsAt })
}

/** One amount per counter. */
const summed = (amounts: ReadonlyArray<Amount>): ReadonlyArray<Amount> => {
  const bySlot = new Map<string, Amount>()
  for (const amount of amounts) {
    const slot = Counter.slotText(amount)
    bySlot.set(slot, { ...amount, amount: amount.amount + (bySlot.get(slot)?.amount ?? 0) })
  }
  return Counter.sorted([...bySlot.values()])
}
