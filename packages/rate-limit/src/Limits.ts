/** Limits, places and budgets together, over one store. */
import { Backend, Sweep } from "@kinora/persistence"
import { type Duration, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type * as Redis from "effect/persistence/Redis"
import * as Budget from "./Budget.ts"
import * as NoUnits from "./internal/noUnits.ts"
import * as MemoryRateLimitStore from "./MemoryRateLimitStore.ts"
import * as Places from "./Places.ts"
import * as RateLimit from "./RateLimit.ts"
import * as RedisRateLimitStore from "./RedisRateLimitStore.ts"
import * as SqlRateLimitStore from "./SqlRateLimitStore.ts"

/** Options of `layerPostgres`. */
export interface LimitsOptions extends RateLimit.RateLimitOptions, Places.PlacesOptions, Budget.BudgetOptions {}

/** All services in the memory of the process, for tests. Counters and places end with the layer's scope. */
export const layerMemory: Backend.MemoryLayer<RateLimit.RateLimit | Places.Places | Budget.Budget> = Layer.mergeAll(
  RateLimit.layer,
  Places.layer,
  Budget.layer
).pipe(
  Backend.memory(MemoryRateLimitStore.layer)
)

/** All services in Postgres. Brings the tables up to date when the layer is built. */
export const layerPostgres = (
  { schema, ...options }: LimitsOptions & Backend.SchemaOptions = {}
): Backend.PostgresLayer<RateLimit.RateLimit | Places.Places | Budget.Budget> =>
  Layer.mergeAll(RateLimit.layerWith(options), Places.layerWith(options), Budget.layerWith(options)).pipe(
    Backend.postgres(Backend.inSchema(SqlRateLimitStore, schema))
  )

/** Options of `layerRedis`. */
export interface RedisLimitsOptions
  extends
    RateLimit.RateLimitOptions,
    Places.PlacesOptions,
    Budget.BudgetOptions,
    RedisRateLimitStore.RedisRateLimitStoreOptions
{}

/**
 * All services in Redis. They belong to no transaction: a hit counts also if the transaction around it rolls back, and if
 * Redis fails during a call with several keys, some of them may be counted. Redis deletes what no longer counts, so
 * `layerSweep` has nothing to do.
 */
export const layerRedis = (
  options: RedisLimitsOptions = {}
): Layer.Layer<RateLimit.RateLimit | Places.Places | Budget.Budget, never, Redis.Redis> =>
  Layer.mergeAll(RateLimit.layerWith(options), Places.layerWith(options), Budget.layerWith(options)).pipe(
    Layer.provide([RedisRateLimitStore.layerWith(options), SecureRandom.layerWebCrypto, NoUnits.layer])
  )

/**
 * Deletes past windows and days and the leases of dead processes in the background, on
 * average every `interval` (default 1 minute), `limit` rows per statement (default 500).
 * Past days are deleted every `daysInterval` (default 1 hour).
 * Logs failures and continues. Any number of processes may run it.
 */
export const layerSweep = (
  { daysInterval, ...options }: Sweep.LayerSweepOptions & { readonly daysInterval?: Duration.Input | undefined } = {}
): Layer.Layer<never, never, RateLimit.RateLimit | Places.Places | Budget.Budget> =>
  Layer.mergeAll(
    sweepWindows(options),
    sweepLeases(options),
    sweepDays({ limit: options.limit, interval: daysInterval })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const defaults = { interval: "1 minute", limit: 500 } as const

const sweepWindows = Sweep.make({
  ...defaults,
  name: "past windows",
  run: (limit) => RateLimit.RateLimit.use(({ sweep }) => sweep(limit))
})

const sweepLeases = Sweep.make({
  ...defaults,
  name: "leases of dead processes",
  run: (limit) => Places.Places.use(({ sweep }) => sweep(limit))
})

const sweepDays = Sweep.make({
  interval: "1 hour",
  limit: 500,
  name: "past days",
  run: (limit) => Budget.Budget.use(({ sweep }) => sweep(limit))
})
