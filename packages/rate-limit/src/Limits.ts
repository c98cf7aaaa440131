/** Limits, places and budgets together, over one store. */
import { Migrations, Sweep, UnitOfWork } from "@kinora/persistence"
import type { StorageError } from "@kinora/persistence/StorageError"
import { type Duration, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import * as Budget from "./Budget.ts"
import * as MemoryRateLimitStore from "./MemoryRateLimitStore.ts"
import * as Places from "./Places.ts"
import * as RateLimit from "./RateLimit.ts"
import * as SqlRateLimitStore from "./SqlRateLimitStore.ts"

/** Options of `layerPostgres`. */
export interface LimitsOptions extends RateLimit.RateLimitOptions, Places.PlacesOptions {}

/** All services in the memory of the process, for tests. Counters and places end with the layer's scope. */
export const layerMemory: Layer.Layer<
  RateLimit.RateLimit | Places.Places | Budget.Budget | UnitOfWork.UnitOfWork | UnitOfWork.MemoryBackend
> = Layer.mergeAll(RateLimit.layer, Places.layer, Budget.layer).pipe(
  Layer.provide([MemoryRateLimitStore.layer, SecureRandom.layerWebCrypto]),
  Layer.provideMerge(UnitOfWork.layerMemory)
)

/** All services in Postgres. Brings the tables up to date when the layer is built. */
export const layerPostgres = (
  options: LimitsOptions = {}
): Layer.Layer<
  RateLimit.RateLimit | Places.Places | Budget.Budget | UnitOfWork.UnitOfWork,
  Migrations.SchemaMismatch | StorageError,
  SqlClient.SqlClient
> =>
  Layer.mergeAll(RateLimit.layerWith(options), Places.layerWith(options), Budget.layer).pipe(
    Layer.provide([SqlRateLimitStore.layer, SecureRandom.layerWebCrypto]),
    Layer.provideMerge(UnitOfWork.layerSql),
    Layer.provide(Migrations.layer(SqlRateLimitStore.migrations))
  )

/**
 * Deletes past minutes and days and the leases of dead processes in the background, on
 * average every `interval` (default 1 minute), `limit` rows per statement (default 500).
 * Logs failures and continues. Any number of processes may run it.
 */
export const layerSweep = (
  { interval = "1 minute", limit = 500 }: {
    readonly interval?: Duration.Input | undefined
    readonly limit?: number | undefined
  } = {}
): Layer.Layer<never, never, RateLimit.RateLimit | Places.Places | Budget.Budget> =>
  Layer.mergeAll(
    Sweep.layer({
      name: "past minutes",
      interval,
      limit,
      run: (limit) => RateLimit.RateLimit.use(({ sweep }) => sweep(limit))
    }),
    Sweep.layer({
      name: "leases of dead processes",
      interval,
      limit,
      run: (limit) => Places.Places.use(({ sweep }) => sweep(limit))
    }),
    Sweep.layer({
      name: "past days",
      interval,
      limit,
      run: (limit) => Budget.Budget.use(({ sweep }) => sweep(limit))
    })
  )
