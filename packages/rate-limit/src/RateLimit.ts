/**
 * Limits of requests in windows, exact across processes. The default window is the calendar minute.
 *
 * Hits that arrive while a set is counted are counted together in the next one, whatever
 * their keys. A key whose window is full is rejected without a statement, and hits that were taken in
 * advance (`RateLimitOptions.advance`) are accepted without one.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Clock, Context, DateTime, type Duration, Effect, Layer } from "effect"
import type * as Counter from "./internal/counter.ts"
import { type Counting, makeCounting } from "./internal/foldedCounters.ts"
import * as Limits from "./internal/limits.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/**
 * How a limit counts.
 *
 * - `fixedWindow`: at most the limit from the beginning of a window to its end. Around the end, an interval of the length of
 *   a window can have twice the limit.
 * - `slidingWindow`: at most the limit in every interval of the length of the window. A hit counts for up to a twentieth
 *   longer than the window, so a client that uses all of a limit gets at least 20 of 21 parts of it.
 * - `tokenBucket`: the limit at once, and then as much as is filled up: the limit per window, evenly. An interval of the
 *   length of the window can have twice the limit. `limit` times the window in milliseconds is at most 2^53.
 */
export type Algorithm = Limits.Algorithm

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
  /** How the limit counts. A key has a counter for each algorithm and length. Default `fixedWindow`. */
  readonly algorithm?: Algorithm | undefined
  /** A whole number, at least 1. Default 1. */
  readonly cost?: number | undefined
  /**
   * Whether processes may take hits of the key in advance (`RateLimitOptions.advance`). Then `hit` counts once more what did
   * not fit, after three times `advance`: all processes have given back what they took in advance after twice that time. In a
   * window, the hits of a key wait in this process until the first one has waited, and at most as many as the limit
   * allows. Inside a transaction none waits. `hitAll` and `peek` do not wait. Default false.
   */
  readonly mayWait?: boolean | undefined
}

/** The result of a hit, with the values of the usual `X-RateLimit-*` headers. */
export interface Verdict {
  readonly accepted: boolean
  readonly limit: number
  /** The number of hits of cost 1 that the window has left. */
  readonly remaining: number
  /** The time of the hit, by the clock of the storage. */
  readonly at: DateTime.Utc
  /** The time at which all of the limit is free, unless other hits count: the end of a fixed window. By the clock of the storage. */
  readonly resetsAt: DateTime.Utc
  /**
   * The earliest time at which a hit of the same cost can fit: `at` if it fits now. For a cost above the limit, `resetsAt`. By
   * the clock of the storage.
   */
  readonly retryAt: DateTime.Utc
}

/** A command to forget a key. */
export interface ForgetCommand extends Pick<Hit, "algorithm" | "key" | "window"> {
  /** The maximum number of counters in one unit of work, 1 to 10,000. Default 1,000. */
  readonly rowsMax?: number | undefined
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

  /**
   * Deletes the counters of the hits of a key with this window and algorithm, for example because a person asks for it. Returns
   * their number. The key begins anew, also in this process; other processes may reject hits of a full window until it ends.
   * Works in sets of `rowsMax` counters, each a unit of work of its own, or all in the transaction of the caller. Waits for
   * units that have locked a counter. Idempotent.
   *
   * A hit after it stores the key again, and so do other processes that give back what they took in advance, until the window
   * ends. So end the use of the key first.
   */
  readonly forget: (command: ForgetCommand) => Effect.Effect<number, StorageError>

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
   * The time for which this process may keep hits that it took in advance, of keys whose hits may wait (`Hit.mayWait`).
   * Default 0, none.
   *
   * A process takes as many hits as a key had in this time, and at most half of what its window has left, so that most
   * hits of a busy key need no statement. Unused hits are given back after this time. Until then other processes count them
   * as used: their `remaining` may be too low, and they may reject hits that may not wait. No window accepts more hits than
   * its limit.
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
  const countings: Countings = {
    minute: yield* makeCounting("minute", options),
    window: yield* makeCounting("window", options),
    bucket: yield* makeCounting("bucket", options)
  }

  return RateLimit.of({
    // Without a span: every request hits, and a span costs twice as much as the rest of a
    // hit. Each set has a span with the number of its members. An invalid window throws, which becomes a defect.
    hit: Effect.fnUntraced(function*(hit: Hit) {
      const { kind, take } = Limits.placedOf(hit)
      const { canSpend, decide, takeAgain, takeFolded } = countings[kind]
      const decided = decide(take, yield* Clock.Clock, yield* canSpend)
      const taken = decided ?? (yield* takeFolded(take))
      return verdictOf(take, taken.accepted || hit.mayWait !== true ? taken : yield* takeAgain(take, taken))
    }),

    hitAll: Effect.fn("RateLimit.hitAll")(function*(hits: ReadonlyArray<Hit>) {
      const all = hits.map(Limits.placedOf)
      const decided = yield* Effect.forEach(groupsOf(countings, all), decideGroup)
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
        const { kind, take } = Limits.placedOf(hit)
        return Effect.map(countings[kind].peek(take), (taken) => verdictOf(take, taken))
      }),

    forget: Effect.fn("RateLimit.forget")(({ rowsMax, ...counted }: ForgetCommand) =>
      Effect.suspend(() => {
        const { kind, take } = Limits.placedOf({ ...counted, limit: 1 })
        return countings[kind].forget(take.key, rowsMax)
      })
    ),

    sweep: Effect.fn("RateLimit.sweep")(function*(limit: number) {
      let deleted = yield* store.sweepCounters("minute", 0, limit)
      for (const kind of ["window", "bucket"] as const) {
        if (deleted < limit) deleted += yield* store.sweepExpired(kind, limit - deleted)
      }
      return deleted
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

/** The countings of each kind of counter. */
type Countings = Readonly<Record<Limits.Placed["kind"], Counting>>

/** Takes of a call that count in one place, with their indices in the call. */
interface Group {
  readonly counting: Counting
  readonly takes: ReadonlyArray<readonly [index: number, take: Counter.Take]>
}

/** The results of takes, with their indices in the call. */
type Results = ReadonlyArray<readonly [index: number, taken: Counter.Taken]>

/** Groups takes by the kind of their counters. */
const groupsOf = (countings: Countings, all: ReadonlyArray<Limits.Placed>): ReadonlyArray<Group> =>
  Limits.kinds.map((kind) => ({
    counting: countings[kind],
    takes: all.flatMap((one, index) => one.kind === kind ? [[index, one.take] as const] : [])
  })).filter(({ takes }) => takes.length > 0)

/** Decides takes without the storage, where the memory of the process suffices. Returns their results, and the group of the others. */
const decideGroup = Effect.fnUntraced(function*({ counting, takes }: Group) {
  const clock = yield* Clock.Clock
  const canSpend = yield* counting.canSpend
  const decided = takes.map(([, take]) => counting.decide(take, clock, canSpend))
  return {
    counting,
    takes: takes.filter((_, place) => decided[place] === undefined),
    known: takes.flatMap(([index], place): Results => decided[place] === undefined ? [] : [[index, decided[place]]])
  }
})

const takeGroup = ({ counting, takes }: Group) =>
  Effect.map(
    counting.takeAll(takes.map(([, take]) => take)),
    (taken): Results => takes.map(([index], place) => [index, taken[place]!])
  )

const verdictOf = (take: Counter.Take, taken: Counter.Taken): Verdict => {
  const times = Limits.timesOf(take, taken)
  const at = DateTime.makeUnsafe(Math.floor(taken.at))
  const resetsAt = DateTime.makeUnsafe(Math.ceil(times.resetsAt))
  let retryAt = at
  if (times.retryAt > taken.at) {
    retryAt = times.retryAt === times.resetsAt ? resetsAt : DateTime.makeUnsafe(times.retryAt)
  }
  return {
    accepted: taken.accepted,
    limit: take.limit,
    remaining: Math.max(take.limit - taken.used, 0),
    at,
    resetsAt,
    retryAt
  }
}
