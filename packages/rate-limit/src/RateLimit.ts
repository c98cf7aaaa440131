/**
 * Limits of requests per calendar minute, exact across processes.
 *
 * Hits that arrive while a set is counted are counted together in the next one, whatever
 * their keys. A key whose minute is full is rejected without a statement, and hits that were taken in
 * advance (`RateLimitOptions.advance`) are accepted without one.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Context, DateTime, Duration, Effect, Layer } from "effect"
import * as Counter from "./internal/counter.ts"
import { makeFullKeys } from "./internal/fullKeys.ts"
import { makeGivenBackAdvances } from "./internal/givenBackAdvances.ts"
import { monotonicMillis } from "./internal/monotonic.ts"
import { makeRecentReads } from "./internal/recentReads.ts"
import { makeTakeAll } from "./internal/takeAll.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** A request that counts against a limit. */
export interface Hit {
  /** Identifies the limit: a scope and an id. At most 256 characters. */
  readonly key: string
  /** The limit per calendar minute. It may differ between calls. */
  readonly limit: number
  /** A whole number, at least 1. Default 1. */
  readonly cost?: number | undefined
}

/** The result of a hit, with the values of the usual `X-RateLimit-*` headers. */
export interface Verdict {
  readonly accepted: boolean
  readonly limit: number
  /** The number of hits of cost 1 that the minute has left. */
  readonly remaining: number
  /** The time of the hit, by the clock of the storage. */
  readonly at: DateTime.Utc
  /** The end of the minute, by the clock of the storage. */
  readonly resetsAt: DateTime.Utc
}

/** Limits per calendar minute. */
export class RateLimit extends Context.Service<RateLimit, {
  /**
   * Counts a hit if it fits. A rejected hit does not count.
   *
   * Inside a transaction of the caller, the hit is not counted if the transaction rolls
   * back, and its key is locked until the transaction ends. Hits of the key wait for the
   * lock, and those of other keys that are in a set with one of them wait until the
   * `lock_timeout` of the session. Call it outside of transactions if you can.
   */
  readonly hit: (hit: Hit) => Effect.Effect<Verdict, StorageError>

  /** Counts several hits in one unit of work. Returns one result per hit, in order. */
  readonly hitAll: (hits: ReadonlyArray<Hit>) => Effect.Effect<ReadonlyArray<Verdict>, StorageError>

  /** Returns the result that `hit` would return, without counting. `remaining` does not include the hit. */
  readonly peek: (hit: Hit) => Effect.Effect<Verdict, StorageError>

  /** Deletes up to `limit` counters of past minutes. Returns the number of deleted counters. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/RateLimit") {}

/** Options of limits. */
export interface RateLimitOptions {
  /** The maximum number of concurrent hits that are combined into one set. Default 4,096. */
  readonly membersMax?: number | undefined
  /**
   * The maximum number of keys whose full minute is remembered. Hits of other full keys
   * have the same result, but need a statement. Default 10,000.
   */
  readonly fullKeysMax?: number | undefined
  /**
   * The time for which this process may keep hits that it took in advance. Default 0, none.
   *
   * A process takes as many hits as a key had in this time, and at most half of what its minute has left, so that most
   * hits of a busy key need no statement. Unused hits are given back after this time. Until then other processes count them
   * as used: their `remaining` may be too low, and near the limit they may reject hits that fit later. No minute
   * accepts more hits than its limit.
   */
  readonly advance?: Duration.Input | undefined
  /** The maximum number of keys with hits that were taken in advance. Default 10,000. */
  readonly advanceKeysMax?: number | undefined
  /**
   * The time for which a counter that `peek` has read is kept for further calls. For that time, `peek` does not see hits
   * of other processes. Default 0, none.
   */
  readonly peekAge?: Duration.Input | undefined
  /** The maximum number of keys whose counter is kept. Default 10,000. */
  readonly peekKeysMax?: number | undefined
}

const make = Effect.fnUntraced(function*(options: RateLimitOptions) {
  const { fullKeysMax = 10_000, membersMax = 4_096, peekAge = 0, peekKeysMax = 10_000 } = options
  const store = yield* RateLimitStore
  const unitOfWork = yield* UnitOfWork
  const advances = yield* makeGivenBackAdvances("minute", options)
  const full = makeFullKeys({ keysMax: fullKeysMax, lasts: advances?.lastsMillis ?? Infinity })
  const recent = makeRecentReads(peekKeysMax, Duration.fromInputUnsafe(peekAge))
  const takeAll = yield* makeTakeAll("minute", advances)

  const take = Effect.fnUntraced(function*(takes: ReadonlyArray<Counter.Take>) {
    const sentAt = monotonicMillis(yield* Clock.Clock)
    const results = yield* Effect.ensuring(takeAll(takes), Effect.sync(() => recent.forget(takes)))
    // A transaction that is open may roll back, and its counts with it.
    if (!(yield* unitOfWork.isOpen)) {
      results.forEach((result, index) => full.remember(takes[index]!, result, sentAt))
    }
    return results
  })

  const takeFolded = yield* Folding.make({
    name: "RateLimit.hit",
    membersMax,
    keyOf: ({ key }: Counter.Take) => key,
    run: take
  })
  const readOne = yield* makeRead(recent, membersMax)

  // Inside a transaction the storage decides, so that a hit that is rolled back is not counted.
  const canSpend = advances === undefined ? Effect.succeed(false) : Effect.map(unitOfWork.isOpen, (isOpen) => !isOpen)
  /** Decides a take with what this process knows. Returns `undefined` if the storage has to decide. */
  const decide = (take: Counter.Take, clock: Clock.Clock, canSpend: boolean): Counter.Taken | undefined =>
    (canSpend ? advances?.spend(take, monotonicMillis(clock)) : undefined) ?? full.refuse(take, clock)

  return RateLimit.of({
    // Without a span: every request hits, and a span costs twice as much as the rest of a
    // hit. Each set has a span with the number of its members.
    hit: Effect.fnUntraced(function*(hit: Hit) {
      const take = takeOf(hit)
      const decided = decide(take, yield* Clock.Clock, yield* canSpend)
      return verdictOf(take, decided ?? (yield* takeFolded(take)))
    }),

    hitAll: Effect.fn("RateLimit.hitAll")(function*(hits: ReadonlyArray<Hit>) {
      const clock = yield* Clock.Clock
      const isSpending = yield* canSpend
      const takes = hits.map(takeOf)
      const decided = takes.map((take) => decide(take, clock, isSpending))
      const open = takes.filter((_, index) => decided[index] === undefined)
      const results = open.length === 0 ? [] : yield* take(open)
      let next = 0
      return takes.map((take, index) => verdictOf(take, decided[index] ?? results[next++]!))
    }),

    peek: Effect.fnUntraced(function*(hit: Hit) {
      const take = takeOf(hit)
      const clock = yield* Clock.Clock
      const refusal = full.refuse(take, clock)
      if (refusal !== undefined) return verdictOf(take, refusal)
      const verdictAt = (counter: Counter.Current) =>
        verdictOf(take, peeked(take, counter, advances?.leftOf(counter) ?? 0))
      const known = recent.get(take.key, monotonicMillis(clock))
      if (known !== undefined) return verdictAt(known)
      const read = Effect.map(readOne(take.key, clock), verdictAt)
      return yield* advances === undefined ? read : advances.read(take.key, read)
    }),

    sweep: Effect.fn("RateLimit.sweep")((limit: number) => store.sweepCounters("minute", 0, limit))
  })
})

/** Creates limits over the surrounding store. */
export const layerWith = (options: RateLimitOptions): Layer.Layer<RateLimit, never, RateLimitStore | UnitOfWork> =>
  Layer.effect(RateLimit, make(options))

/** `layerWith` with default options. */
export const layer: Layer.Layer<RateLimit, never, RateLimitStore | UnitOfWork> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes the function that reads the counter of a key, and keeps it. */
const makeRead = Effect.fnUntraced(function*(recent: ReturnType<typeof makeRecentReads>, membersMax: number) {
  const store = yield* RateLimitStore
  const { isOpen } = yield* UnitOfWork

  const read = Effect.fnUntraced(function*(keys: ReadonlyArray<string>) {
    const counters = yield* store.read("minute", [...new Set(keys)])
    const counterByKey = new Map(counters.map((counter) => [counter.key, counter]))
    return keys.map((key) => counterByKey.get(key)!)
  })

  const readFolded = yield* Folding.make({ name: "RateLimit.peek", membersMax, run: read })

  return Effect.fnUntraced(function*(key: string, clock: Clock.Clock) {
    const sentAt = monotonicMillis(clock)
    const token = recent.begin(key)
    const counter = yield* Effect.onError(readFolded(key), () => Effect.sync(() => recent.forget([{ key }])))
    // A transaction that is open may roll back.
    if (yield* isOpen) recent.forget([{ key }])
    else recent.keep(token, counter, sentAt)
    return counter
  })
})

const takeOf = ({ cost = 1, key, limit }: Hit): Counter.Take => ({ key, limit, cost, advanceMax: limit })

/** The result of a take that counts nothing. `left` is the unspent advance of this process, a part of the counter. */
const peeked = ({ cost, limit }: Counter.Take, counter: Counter.Current, left: number): Counter.Taken => {
  const used = counter.used - left
  return { ...counter, used, accepted: used + cost <= limit }
}

const verdictOf = ({ limit }: Counter.Take, { accepted, at, period, used }: Counter.Taken): Verdict => ({
  accepted,
  limit,
  remaining: Math.max(limit - used, 0),
  at: DateTime.makeUnsafe(Math.floor(at)),
  resetsAt: DateTime.makeUnsafe(Counter.endOf("minute", period))
})
