/**
 * Limits for programs without Effect.
 *
 *     const limits = await createLimits({ pool })
 *     const { accepted, remaining } = await limits.hit({ key: "requests/ada", limit: 100 })
 *
 * Every call has the rules of the services `RateLimit`, `Places` and `Budget`. A call throws a
 * `StorageFailedError` if the database fails.
 */
import * as Backend from "@kinora/persistence/Backend"
import {
  type CallOptions,
  checkInputs,
  type Layers,
  make,
  type Plain,
  type Storage,
  type TelemetryOptions
} from "@kinora/persistence/promise"
import type { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Layer } from "effect"
import * as Budgets from "./Budget.ts"
import * as NoUnits from "./internal/noUnits.ts"
import { inputs } from "./internal/promise/inputs.ts"
import * as Client from "./internal/redis/client.ts"
import type { RedisClient } from "./internal/redis/client.ts"
import * as Service from "./Limits.ts"
import * as MemoryRateLimitStore from "./MemoryRateLimitStore.ts"
import * as PlaceLimits from "./Places.ts"
import * as RateLimits from "./RateLimit.ts"
import type { RedisRateLimitStoreOptions } from "./RedisRateLimitStore.ts"

export { StorageFailedError } from "@kinora/persistence/promise"
export type { RedisClient } from "./internal/redis/client.ts"

/** Options of `createLimits`: the storage, and the options of the services. */
export type CreateLimitsOptions = (Storage | RedisStorage) & Service.LimitsOptions & {
  /** Whether to delete past counters in the background, once a minute. Default true. Any number of processes may. */
  readonly sweep?: boolean | undefined
}

/**
 * Redis, on a client of the program. Its calls belong to no transaction, so `tx` is rejected with a `TypeError`.
 * `Limits.layerRedis` documents what this means.
 */
export interface RedisStorage extends RedisRateLimitStoreOptions, TelemetryOptions {
  readonly redis: RedisClient
}

/** A held place. `await using` releases it at the end of the block. */
export interface Place extends AsyncDisposable {
  /** Frees the place. Idempotent. If the database is unavailable, the place is free when its lease ends. */
  readonly release: () => Promise<void>
}

/** A request for a place that is held until `release`. */
interface PlaceRequest extends Omit<PlaceLimits.PlaceRequest, "mayBeKept" | "onInterrupt"> {
  /** Releases the place when it aborts. */
  readonly signal?: CallOptions["signal"]
}

/** Selects a key. */
type KeyQuery = CallOptions & { readonly key: string }

/** Limits. Its calls are those of the services `RateLimit`, `Places` and `Budget`, whose documentation describes them. */
export interface Limits extends AsyncDisposable {
  /** Counts a hit if its window has room. A rejected hit does not count. Call it outside of transactions if you can. */
  readonly hit: (hit: CallOptions & RateLimits.Hit) => Promise<Plain<RateLimits.Verdict>>
  /** Counts several hits in one transaction. Returns one result per hit, in order. */
  readonly hitAll: (
    hits: ReadonlyArray<RateLimits.Hit>,
    options?: CallOptions
  ) => Promise<ReadonlyArray<Plain<RateLimits.Verdict>>>
  /** Returns the result that `hit` would return, without counting. */
  readonly peek: (hit: CallOptions & RateLimits.Hit) => Promise<Plain<RateLimits.Verdict>>
  /** Takes a place and holds it until `release`. Returns `undefined`, without waiting, if all are taken. */
  readonly acquire: (request: PlaceRequest) => Promise<Place | undefined>
  /** Takes a place for a fixed time, also if the process dies. Returns `false`, without waiting, if all are taken. */
  readonly acquireFor: (request: CallOptions & PlaceLimits.TimedPlaceRequest) => Promise<boolean>
  /** Returns the number of held places of a key. */
  readonly held: (query: KeyQuery) => Promise<number>
  /** Reserves an amount of the UTC day, in full or not at all. */
  readonly reserve: (request: CallOptions & Budgets.BudgetRequest) => Promise<Plain<Budgets.Reserved>>
  /** Reserves several amounts in one transaction. Returns one result per request, in order. */
  readonly reserveAll: (
    requests: ReadonlyArray<Budgets.BudgetRequest>,
    options?: CallOptions
  ) => Promise<ReadonlyArray<Plain<Budgets.Reserved>>>
  /** Replaces a reserved amount by the amount that was used. Call it once. */
  readonly settle: (
    settlement: CallOptions & { readonly reservation: Budgets.Reservation; readonly used: number }
  ) => Promise<void>
  /** Returns the used and reserved amount of the current UTC day. */
  readonly used: (query: KeyQuery) => Promise<number>
  /**
   * Deletes what is stored of a key: the counters of its hits with this `window` and `algorithm`, the amounts of its days, and
   * its leases. Returns their number. Call it for each window and algorithm of the key. Repeat a call that was ended early.
   * `rowsMax` is the maximum number of rows in one unit of work. Default 1,000.
   */
  readonly forget: (command: CallOptions & RateLimits.ForgetCommand) => Promise<number>
  /** Releases all places, ends the background work, and the connections that the limits have opened themselves. */
  readonly close: () => Promise<void>
}

/**
 * Creates limits. Brings their tables up to date first. Rejects if the database is unavailable, or a newer build has removed
 * something from them.
 */
export const createLimits = async (options: CreateLimitsOptions): Promise<Limits> => {
  const { close, open, run } = await make(
    layersOf(options),
    "redis" in options ? { ...options, memory: true } : options
  )
  return checkInputs<Limits>({
    hit: (hit) => run(RateLimits.RateLimit.use((service) => service.hit(hit)), hit, unrefused),
    hitAll: (hits, options = {}) => run(RateLimits.RateLimit.use(({ hitAll }) => hitAll(hits)), options, unrefused),
    peek: (hit) => run(RateLimits.RateLimit.use(({ peek }) => peek(hit)), hit, unrefused),
    acquire: async ({ key, max, signal }) => {
      const { close, value } = await open(
        PlaceLimits.Places.use(({ acquire }) => acquire({ key, max })),
        { signal },
        unrefused
      )
      if (value) return { release: close, [Symbol.asyncDispose]: close }
      await close()
      return undefined
    },
    acquireFor: (request) => {
      const { key, lasts, max } = request
      return run(PlaceLimits.Places.use(({ acquireFor }) => acquireFor({ key, lasts, max })), request, unrefused)
    },
    held: (query) => run(PlaceLimits.Places.use(({ held }) => held(query.key)), query, unrefused),
    reserve: (request) => run(Budgets.Budget.use(({ reserve }) => reserve(request)), request, unrefused),
    reserveAll: (requests, options = {}) =>
      run(Budgets.Budget.use(({ reserveAll }) => reserveAll(requests)), options, unrefused),
    settle: (settlement) => {
      const { reservation, used } = settlement
      return run(Budgets.Budget.use(({ settle }) => settle(reservation, used)), settlement, unrefused)
    },
    forget: (command) => {
      const { algorithm, key, rowsMax, window } = command
      const all = Effect.all([
        RateLimits.RateLimit.use(({ forget }) => forget({ algorithm, key, rowsMax, window })),
        Budgets.Budget.use(({ forget }) => forget({ key, rowsMax })),
        PlaceLimits.Places.use(({ forget }) => forget({ key, rowsMax }))
      ])
      return run(Effect.map(all, ([hits, days, leases]) => hits + days + leases), command, unrefused)
    },
    used: (query) => run(Budgets.Budget.use(({ used }) => used(query.key)), query, unrefused),
    close,
    [Symbol.asyncDispose]: close
  }, inputs)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Services = RateLimits.RateLimit | PlaceLimits.Places | Budgets.Budget

const layersOf = ({ sweep = true, ...options }: CreateLimitsOptions): Layers<Services> => {
  const withSweep = <E, R>(layer: Layer.Layer<Services | UnitOfWork, E, R>) =>
    sweep ? Layer.provideMerge(Service.layerSweep(), layer) : layer
  const services = Layer.mergeAll(
    RateLimits.layerWith(options),
    PlaceLimits.layerWith(options),
    Budgets.layerWith(options)
  )
  return {
    memory: "redis" in options
      ? Service.layerRedis(options).pipe(Layer.provide(Client.layer(options.redis)), Layer.merge(NoUnits.layer))
      : withSweep(services.pipe(Backend.memory(MemoryRateLimitStore.layer))),
    postgres: withSweep(Service.layerPostgres(options))
  }
}

/** No call is refused by a rule: whether a limit has room is a result. */
const unrefused = (refusal: never): Error => refusal
