/**
 * Counters and places in Redis 7 or later, or a server with its scripts, such as Valkey.
 *
 * Each key is changed by one script. A call with several keys is one script per key, so if Redis fails, some of them may be
 * counted. Redis deletes what no longer counts. Without persistence, Redis loses counters and places when it restarts: limits
 * begin anew, and held places are stored again when they are renewed.
 */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import { StorageError } from "@kinora/persistence/StorageError"
import { Clock, Duration, Effect, Layer, Result } from "effect"
import * as Redis from "effect/persistence/Redis"
import * as Buckets from "./internal/buckets.ts"
import * as Counter from "./internal/counter.ts"
import type * as Lease from "./internal/lease.ts"
import type { Script } from "./internal/redis/script.ts"
import * as Scripts from "./internal/redis/scripts.ts"
import * as Windows from "./internal/windows.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** Options of `layerWith`. */
export interface RedisRateLimitStoreOptions {
  /** The beginning of every key. Default `limits:`. */
  readonly prefix?: string | undefined
  /** The time after which a call to which Redis does not respond fails with `unavailable`. Default 5 seconds. */
  readonly deadline?: Duration.Input | undefined
}

/** A store over the surrounding Redis. */
export const layerWith = (
  { deadline = "5 seconds", prefix = "limits:" }: RedisRateLimitStoreOptions
): Layer.Layer<RateLimitStore, never, Redis.Redis> =>
  Layer.effect(
    RateLimitStore,
    Effect.map(Redis.Redis, (redis) => {
      const run = makeRun(redis, prefix, Duration.fromInputUnsafe(deadline))
      /** Deletes leases of requests that failed. It is not a script, which would have to be loaded first. */
      const giveBack = (places: ReadonlyArray<Lease.Place>) =>
        Effect.forEach(places, ({ id, key }) => redis.send("ZREM", `${prefix}place:${key}`, id), all).pipe(
          Effect.timeout(deadline),
          Effect.ignore,
          // In real time, like the deadline of a script.
          Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
        )
      return RateLimitStore.of({
        take: (kind, demands) => runAll(demands, (demand) => takeOne(run, kind, demand)),
        add: (kind, amounts) => Effect.asVoid(runAll(amounts, (amount) => addOne(run, kind, amount))),
        read: (kind, counters) => runAll(counters, (counted) => readOne(run, kind, counted)),
        acquire: (requests) =>
          runAll(requests, ({ id, key, lasts, max }) =>
            run("acquire", Scripts.acquireLease, "place", key, Duration.toMillis(lasts), max, id)).pipe(
              Effect.map((stored) =>
                requests.filter((_, index) =>
                  stored[index]![0] === 1
                )
              ),
              // Redis may have stored them, or may do so when it continues.
              Effect.onError(() => Effect.forkDetach(giveBack(requests), { startImmediately: true }))
            ),
        renew: (places, lasts) =>
          Effect.asVoid(
            runAll(
              places,
              ({ id, key }) => run("renew", Scripts.renewLease, "place", key, Duration.toMillis(lasts), id)
            )
          ),
        release: (places) =>
          Effect.asVoid(runAll(places, ({ id, key }) => run("release", Scripts.releaseLease, "place", key, id))),
        held: (key) => Effect.map(run("held", Scripts.countLeases, "place", key), ([live]) => live!),
        forget: (kind, key) => Effect.map(run("forget", Scripts.forget, kind, key), ([deleted]) => deleted!),
        // Redis deletes keys that have expired.
        sweepCounters: () => Effect.succeed(0),
        sweepExpired: () => Effect.succeed(0),
        sweepLeases: () => Effect.succeed(0)
      })
    })
  )

/** `layerWith` with default options. */
export const layer: Layer.Layer<RateLimitStore, never, Redis.Redis> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Options with which calls are sent immediately, in order. */
const all = { concurrency: "unbounded" } as const

/**
 * Runs a call for each item. If only some fail, the failure is `unavailable`, because
 * the others have taken effect: whoever combined the calls must not run them again.
 */
const runAll = <A, B>(
  items: ReadonlyArray<A>,
  call: (item: A) => Effect.Effect<B, StorageError>
): Effect.Effect<ReadonlyArray<B>, StorageError> =>
  Effect.flatMap(
    Effect.forEach(items, (item) => Effect.result(call(item)), all),
    (results) => {
      const failure = results.find(Result.isFailure)
      if (failure === undefined) return Effect.succeed(results.filter(Result.isSuccess).map(({ success }) => success))
      const { cause, operation } = failure.failure
      const isFinal = results.every((result) => Result.isFailure(result) && result.failure.reason === "failed")
      return Effect.fail(new StorageError({ operation, reason: isFinal ? "failed" : "unavailable", cause }))
    }
  )

/** Runs a script on a key, and returns its numbers. */
type Run = (
  operation: string,
  script: Script,
  kind: Counter.CounterKind | "place",
  key: string,
  ...rest: ReadonlyArray<number | string>
) => Effect.Effect<ReadonlyArray<number>, StorageError>

const makeRun =
  (redis: Redis.Redis["Service"], prefix: string, deadline: Duration.Duration): Run =>
  (operation, script, kind, key, ...rest) => {
    const failed = (cause: unknown) =>
      new StorageError({
        operation: `RateLimitStore.${operation}`,
        reason: isFinal(cause) ? "failed" : "unavailable",
        cause
      })
    return Effect.flatMap(DatabaseTime.virtualMillis, (millis) => {
      const time = millis === undefined ? "" : String(millis)
      return redis.eval(script)({ key: `${prefix}${kind}:${key}`, time }, ...rest).pipe(
        Effect.mapError(({ cause }) => failed(cause)),
        Effect.timeoutOrElse({
          duration: deadline,
          orElse: () => Effect.fail(failed(new Error(`Redis did not respond within ${Duration.format(deadline)}`)))
        }),
        // The deadline is in real time.
        Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()),
        Effect.map((texts) => texts.flatMap((text) => text.split(",").map(Number)))
      )
    })
  }

/** Whether Redis refuses the command itself, and would do so again. Others are those of a server that is full, starts, or fails over. */
const isFinal = (cause: unknown) =>
  cause instanceof Error && /^(ERR|NOAUTH|NOPERM|WRONGPASS|WRONGTYPE) /.test(cause.message)

const takeOne = (run: Run, kind: Counter.CounterKind, demand: Counter.Demand) => {
  const { cost, key, limit, takes, window } = demand
  const { length, parts } = window
  switch (kind) {
    case "window":
      return Effect.map(
        run("take", Scripts.takeFromWindow, kind, key, length, parts, cost, limit, takes),
        ([at, granted, period, ...counts]): Counter.Grant => ({
          ...Windows.currentOf(demand, { period: period!, counts }, at!),
          granted: granted!
        })
      )
    case "bucket":
      return Effect.map(
        run("take", Scripts.takeFromBucket, kind, key, length, cost, limit, takes),
        ([at, granted, missing, filledAt]): Counter.Grant => ({
          ...Buckets.currentOf(demand, { missing: missing!, filledAt: filledAt! }, at!),
          granted: granted!
        })
      )
    default:
      return Effect.map(
        run("take", Scripts.takeFromCounter, kind, key, length, cost, limit, takes),
        ([at, period, used, granted]): Counter.Grant => ({
          ...counterOf(kind, key, [at!, period!, used!]),
          granted: granted!
        })
      )
  }
}

const addOne = (run: Run, kind: Counter.AddedKind, { amount, key, period }: Counter.Amount) =>
  kind === "window"
    ? run("add", Scripts.addToWindow, kind, key, period, amount)
    : run("add", Scripts.addToCounter, kind, key, Counter.windows[kind].length, period, amount)

const readOne = (run: Run, kind: Counter.CounterKind, counted: Counter.Counted) => {
  const { key, window: { length, parts } } = counted
  switch (kind) {
    case "window":
      return Effect.map(
        run("read", Scripts.readWindow, kind, key, length, parts),
        ([at, period, ...counts]) => Windows.currentOf(counted, { period: period!, counts }, at!)
      )
    case "bucket":
      return Effect.map(
        run("read", Scripts.readBucket, kind, key),
        ([at, missing, filledAt]) => Buckets.storedOf(key, { missing: missing!, filledAt: filledAt! }, at!)
      )
    default:
      return Effect.map(
        run("read", Scripts.readCounter, kind, key, length),
        ([at, period, used]) => counterOf(kind, key, [at!, period!, used!])
      )
  }
}

const counterOf = (
  kind: Counter.PeriodKind,
  key: string,
  [at, period, used]: readonly [at: number, period: number, used: number]
): Counter.Current => ({ key, at, period, used, endsAt: Counter.endOf(Counter.windows[kind], period) })
