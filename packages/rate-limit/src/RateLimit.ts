/**
 * Limits of requests in windows, exact across processes. The default window is the calendar minute.
 *
 * Hits that arrive while a set is counted are counted together in the next one, whatever
 * their keys. A key whose window is full is rejected without a statement, and hits that were taken in
 * advance (`RateLimitOptions.advance`) are accepted without one.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, type Duration, Effect, Layer } from "effect"
import type * as Counter from "./internal/counter.ts"
import { type Counting, makeCounting } from "./internal/counting.ts"
import * as Limits from "./internal/limits.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** A request that counts against a limit. */
export interface Hit {
  /** Identifies the limit: a scope and an id. At most 256 characters. */
  readonly key: string
  /** The limit per window. It may differ between calls. */
  readonly limit: number
  /**
   * The length of the window, for example `"10 seconds"`: `windowMin` to `windowMax`, in whole milliseconds. Windows are
   * aligned to 1970 in UTC, so those of an hour begin with each hour. A key has a counter for each length. Default 1 minute.
   */
  readonly window?: Duration.Input | undefined
  /** A whole number, at least 1. Default 1. */
  readonly cost?: number | undefined
}

/** The result of a hit, with the values of the usual `X-RateLimit-*` headers. */
export interface Verdict {
  readonly accepted: boolean
  readonly limit: number
  /** The number of hits of cost 1 that the window has left. */
  readonly remaining: number
  /** The time of the hit, by the clock of the storage. */
  readonly at: DateTime.Utc
  /** The end of the window, by the clock of the storage. */
  readonly resetsAt: DateTime.Utc
}

/** Limits of requests. */
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

  /** Deletes up to `limit` counters of past windows. Returns the number of deleted counters. */
  readonly sweep: (limit: number) => Effect.Effect<number, StorageError>
}>()("@kinora/rate-limit/RateLimit") {}

/** Options of limits. */
export interface RateLimitOptions {
  /** The maximum number of concurrent hits that are combined into one set. Default 4,096. */
  readonly membersMax?: number | undefined
  /**
   * The maximum number of keys whose full window is remembered, for minutes and for other windows. Hits of other full
   * keys have the same result, but need a statement. Default 10,000.
   */
  readonly fullKeysMax?: number | undefined
  /**
   * The time for which this process may keep hits that it took in advance. Default 0, none.
   *
   * A process takes as many hits as a key had in this time, and at most half of what its window has left, so that most
   * hits of a busy key need no statement. Unused hits are given back after this time. Until then other processes count them
   * as used: their `remaining` may be too low, and near the limit they may reject hits that fit later. No window
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
  const store = yield* RateLimitStore
  const { atomically } = yield* UnitOfWork
  const minutes = yield* makeCounting("minute", options)
  const windows = yield* makeCounting("window", options)

  /** Returns where a hit counts, and its take. Throws a `TypeError` for an invalid window, which becomes a defect. */
  const counted = (hit: Hit): Counted =>
    Limits.isOfMinute(hit)
      ? { counting: minutes, take: Limits.takeOfMinute(hit) }
      : { counting: windows, take: Limits.takeOfWindow(hit) }

  return RateLimit.of({
    hit: (hit) =>
      Effect.suspend(() => {
        const { counting, take } = counted(hit)
        return Effect.map(counting.take(take), (taken) => verdictOf(take, taken))
      }),

    hitAll: Effect.fn("RateLimit.hitAll")(function*(hits: ReadonlyArray<Hit>) {
      const all = hits.map(counted)
      const groups = [minutes, windows].map((counting) => groupOf(counting, all)).filter(({ takes }) =>
        takes.length > 0
      )
      const decided = yield* Effect.forEach(groups, decideGroup)
      const open = decided.filter(({ takes }) => takes.length > 0)
      const takeOpen = Effect.forEach(open, takeGroup)
      const taken = new Map([
        ...decided.flatMap(({ known }) => known),
        ...(yield* open.length > 1 ? atomically(takeOpen) : takeOpen).flat()
      ])
      return all.map(({ take }, index) => verdictOf(take, taken.get(index)!))
    }),

    peek: (hit) =>
      Effect.suspend(() => {
        const { counting, take } = counted(hit)
        return Effect.map(counting.peek(take), (taken) => verdictOf(take, taken))
      }),

    sweep: Effect.fn("RateLimit.sweep")(function*(limit: number) {
      const minutes = yield* store.sweepCounters("minute", 0, limit)
      return minutes === limit ? limit : minutes + (yield* store.sweepWindows(limit - minutes))
    })
  })
})

/** The shortest window of a limit: 1 second. */
export const windowMin: Duration.Duration = Limits.windowMin

/** The longest window of a limit: 31 days. */
export const windowMax: Duration.Duration = Limits.windowMax

/** Creates limits over the surrounding store. */
export const layerWith = (options: RateLimitOptions): Layer.Layer<RateLimit, never, RateLimitStore | UnitOfWork> =>
  Layer.effect(RateLimit, make(options))

/** `layerWith` with default options. */
export const layer: Layer.Layer<RateLimit, never, RateLimitStore | UnitOfWork> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A take, and where it counts. */
interface Counted {
  readonly counting: Counting
  readonly take: Counter.Take
}

/** Takes of a call that count in one place, with their indices in the call. */
interface Group {
  readonly counting: Counting
  readonly takes: ReadonlyArray<readonly [index: number, take: Counter.Take]>
}

/** The results of takes, with their indices in the call. */
type Results = ReadonlyArray<readonly [index: number, taken: Counter.Taken]>

const groupOf = (counting: Counting, all: ReadonlyArray<Counted>): Group => ({
  counting,
  takes: all.flatMap((one, index) => one.counting === counting ? [[index, one.take] as const] : [])
})

/** Decides takes with what the process knows. Returns their results, and the group of the others. */
const decideGroup = ({ counting, takes }: Group) =>
  Effect.map(counting.decideAll(takes.map(([, take]) => take)), (decided) => ({
    counting,
    takes: takes.filter((_, place) => decided[place] === undefined),
    known: takes.flatMap(([index], place): Results => decided[place] === undefined ? [] : [[index, decided[place]]])
  }))

const takeGroup = ({ counting, takes }: Group) =>
  Effect.map(
    counting.takeAll(takes.map(([, take]) => take)),
    (taken): Results => takes.map(([index], place) => [index, taken[place]!])
  )

const verdictOf = ({ limit }: Counter.Take, { accepted, at, endsAt, used }: Counter.Taken): Verdict => ({
  accepted,
  limit,
  remaining: Math.max(limit - used, 0),
  at: DateTime.makeUnsafe(Math.floor(at)),
  resetsAt: DateTime.makeUnsafe(endsAt)
})
