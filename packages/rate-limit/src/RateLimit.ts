/**
 * Requests per calendar minute, exact across processes (interface, Limits).
 *
 * Hits that come while a statement is under way are counted together by the next
 * one: one upsert for all keys, however many wait. So the database sees one
 * statement per round trip, and none at all for a key whose minute is full.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Context, DateTime, Effect, Layer } from "effect"
import * as Counter from "./Counter.ts"
import { takeAll } from "./internal/take.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** A request that counts against a limit. */
export interface Hit {
  /** What is limited: a scope and an id. At most 256 characters. */
  readonly key: string
  /** Per calendar minute. Calls may differ; each is judged by its own. */
  readonly limit: number
  /** A whole number, at least 1. Default 1. */
  readonly cost?: number | undefined
}

/** The answer to a hit, with what the `X-RateLimit-*` headers say (D26). */
export interface Verdict {
  readonly accepted: boolean
  readonly limit: number
  /** Hits of cost 1 that the minute has left. */
  readonly remaining: number
  /** When the minute ends, on the full minute. */
  readonly resetsAt: DateTime.Utc
}

/** Limits per calendar minute. */
export class RateLimit extends Context.Service<RateLimit, {
  /**
   * Counts a hit if it fits. A refused one takes nothing, so that a client who keeps
   * asking, or asks for too much at once, harms nobody's later hits. Call it
   * outside units of work: inside one, the count is undone if the unit is.
   */
  readonly hit: (hit: Hit) => Effect.Effect<Verdict, StorageError>

  /** `hit` for several limits at once, each for itself, in one statement. */
  readonly hitAll: (hits: ReadonlyArray<Hit>) => Effect.Effect<ReadonlyArray<Verdict>, StorageError>

  /** What `hit` would answer, for headers: counts nothing. `remaining` is as it is now. */
  readonly peek: (hit: Hit) => Effect.Effect<Verdict, StorageError>

  /** Deletes up to `limit` counters of past minutes; answers how many. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/RateLimit") {}

/** What the limits can be told. */
export interface RateLimitOptions {
  /** At most this many hits are counted by one statement. Default 4096. */
  readonly membersMax?: number | undefined
  /**
   * Of at most this many keys is it remembered that their minute is full. Beyond it
   * the answers are the same, but cost a statement. Default 10,000.
   */
  readonly fullKeysMax?: number | undefined
}

const make = Effect.fnUntraced(function*({ fullKeysMax = 10_000, membersMax = 4096 }: RateLimitOptions) {
  const store = yield* RateLimitStore
  const { isOpen } = yield* UnitOfWork
  const full = makeFullKeys(fullKeysMax)

  const take = Effect.fnUntraced(function*(takes: ReadonlyArray<Counter.Take>) {
    const answers = yield* takeAll(store, "minute", takes)
    // What an open unit has counted may yet be undone.
    if (!(yield* isOpen)) answers.forEach((answer, index) => full.remember(takes[index]!, answer.used))
    return answers
  })
  const takeFolded = yield* Folding.make({ name: "RateLimit.hit", membersMax, run: take })

  const read = Effect.fnUntraced(function*(slots: ReadonlyArray<Counter.Slot>) {
    const distinct = new Map(slots.map((slot) => [Counter.slotText(slot), slot]))
    const counters = yield* store.read("minute", Counter.sorted([...distinct.values()]))
    const usedBySlot = new Map(counters.map((counter) => [Counter.slotText(counter), counter.used]))
    return slots.map((slot) => usedBySlot.get(Counter.slotText(slot)) ?? 0)
  })
  const readFolded = yield* Folding.make({ name: "RateLimit.peek", membersMax, run: read })

  // Not traced one by one: every request hits, and a span costs twice what the rest
  // of a hit does. The sets are traced, with the number of their members.
  const hit = Effect.fnUntraced(function*(hit: Hit) {
    const take = takeOf(hit, yield* Clock.currentTimeMillis)
    return verdictOf(take, full.refuse(take) ?? (yield* takeFolded(take)))
  })

  const hitAll = Effect.fn("RateLimit.hitAll")(function*(hits: ReadonlyArray<Hit>) {
    const now = yield* Clock.currentTimeMillis
    const takes = hits.map((hit) => takeOf(hit, now))
    const refusals = takes.map(full.refuse)
    const open = takes.filter((_, index) => refusals[index] === undefined)
    const answers = open.length === 0 ? [] : yield* take(open)
    let next = 0
    return takes.map((take, index) => verdictOf(take, refusals[index] ?? answers[next++]!))
  })

  const peek = Effect.fnUntraced(function*(hit: Hit) {
    const take = takeOf(hit, yield* Clock.currentTimeMillis)
    const used = full.refuse(take)?.used ?? (yield* readFolded(take))
    return verdictOf(take, { accepted: used + take.cost <= take.limit, used })
  })

  const sweep = Effect.fn("RateLimit.sweep")(function*(limit: number) {
    return yield* store.sweepCounters("minute", Counter.periodOf("minute", yield* Clock.currentTimeMillis), limit)
  })

  return RateLimit.of({ hit, hitAll, peek, sweep })
})

/** Limits with these options. */
export const layerWith = (options: RateLimitOptions): Layer.Layer<RateLimit, never, RateLimitStore | UnitOfWork> =>
  Layer.effect(RateLimit, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<RateLimit, never, RateLimitStore | UnitOfWork> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const takeOf = ({ cost = 1, key, limit }: Hit, now: number): Counter.Take => ({
  key,
  period: Counter.periodOf("minute", now),
  limit,
  cost
})

const verdictOf = ({ limit, period }: Counter.Take, { accepted, used }: Counter.Answer): Verdict => ({
  accepted,
  limit,
  remaining: Math.max(limit - used, 0),
  resetsAt: DateTime.makeUnsafe(Counter.endOf("minute", period))
})

/**
 * Remembers the keys whose minute is full. A minute's count never goes down, so
 * what did not fit once does not fit until the minute ends: refusing it without
 * asking the store is exact. A call with a higher limit still asks.
 */
const makeFullKeys = (keysMax: number) => {
  let newest = 0
  let used = new Map<string, number>()

  const remember = (take: Counter.Take, amount: number) => {
    if (take.period > newest) {
      newest = take.period
      used = new Map()
    }
    if (take.period < newest || amount < take.limit && amount + take.cost <= take.limit) return
    if (used.size < keysMax || used.has(take.key)) used.set(take.key, Math.max(used.get(take.key) ?? 0, amount))
  }

  const refuse = (take: Counter.Take): Counter.Answer | undefined => {
    const known = take.period === newest ? used.get(take.key) ?? 0 : 0
    return known + take.cost > take.limit ? { accepted: false, used: known } : undefined
  }

  return { remember, refuse }
}
