/** Counters and places in Postgres. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type * as Counter from "./internal/counter.ts"
import { acquireLeases } from "./internal/sql/acquireLeases.ts"
import { addToCounters } from "./internal/sql/addToCounters.ts"
import { addToWindows } from "./internal/sql/addToWindows.ts"
import { countLeases } from "./internal/sql/countLeases.ts"
import { forgetKey } from "./internal/sql/forgetKey.ts"
import { putLeases } from "./internal/sql/putLeases.ts"
import { readBuckets } from "./internal/sql/readBuckets.ts"
import { readCounters } from "./internal/sql/readCounters.ts"
import { readWindows } from "./internal/sql/readWindows.ts"
import { releaseLeases } from "./internal/sql/releaseLeases.ts"
import { sweepCounters } from "./internal/sql/sweepCounters.ts"
import { sweepExpired } from "./internal/sql/sweepExpired.ts"
import { sweepLeases } from "./internal/sql/sweepLeases.ts"
import { takeFromBuckets } from "./internal/sql/takeFromBuckets.ts"
import { takeFromCounters } from "./internal/sql/takeFromCounters.ts"
import { takeFromWindows } from "./internal/sql/takeFromWindows.ts"
import * as Tables from "./migrations.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** The tables that the store requires. The store itself runs no DDL. */
export const migrations: Relocatable = Tables.migrations

/** A store over the surrounding database. */
export const layer: Layer.Layer<RateLimitStore, never, SqlClient.SqlClient> = Layer.effect(
  RateLimitStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return RateLimitStore.of({
      take: (kind, demands) => takeFrom(sql, kind, demands).pipe(mapSql("RateLimitStore.take")),
      add: (kind, amounts) =>
        (kind === "window" ? addToWindows(sql, amounts) : addToCounters(sql, kind, amounts)).pipe(
          mapSql("RateLimitStore.add")
        ),
      read: (kind, counters) => readOf(sql, kind, counters).pipe(mapSql("RateLimitStore.read")),
      sweepCounters: (kind, kept, limit) =>
        sweepCounters(sql, kind, kept, limit).pipe(mapSql("RateLimitStore.sweepCounters")),
      sweepExpired: (kind, limit) => sweepExpired(sql, kind, limit).pipe(mapSql("RateLimitStore.sweepExpired")),
      acquire: (requests) => acquireLeases(sql, requests).pipe(mapSql("RateLimitStore.acquire")),
      renew: (places, lasts) =>
        putLeases(sql, places.map((place) => ({ ...place, lasts }))).pipe(mapSql("RateLimitStore.renew")),
      release: (places) => releaseLeases(sql, places).pipe(mapSql("RateLimitStore.release")),
      held: (key) =>
        countLeases(sql, [key]).pipe(
          Effect.map(([counted]) => counted?.live ?? 0),
          mapSql("RateLimitStore.held")
        ),
      forget: (kind, key, limit) => forgetKey(sql, kind, key, limit).pipe(mapSql("RateLimitStore.forget")),
      sweepLeases: (limit) => sweepLeases(sql, limit).pipe(mapSql("RateLimitStore.sweepLeases"))
    })
  })
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const takeFrom = (sql: SqlClient.SqlClient, kind: Counter.CounterKind, demands: ReadonlyArray<Counter.Demand>) => {
  if (kind === "window") return takeFromWindows(sql, demands)
  return kind === "bucket" ? takeFromBuckets(sql, demands) : takeFromCounters(sql, kind, demands)
}

const readOf = (sql: SqlClient.SqlClient, kind: Counter.CounterKind, counters: ReadonlyArray<Counter.Counted>) => {
  if (kind === "window") return readWindows(sql, counters)
  return kind === "bucket" ? readBuckets(sql, counters) : readCounters(sql, kind, counters)
}
