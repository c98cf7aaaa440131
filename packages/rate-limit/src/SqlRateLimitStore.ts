/** Counters and places in Postgres. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { acquireLeases } from "./internal/sql/acquireLeases.ts"
import { addToCounters } from "./internal/sql/addToCounters.ts"
import { addToWindows } from "./internal/sql/addToWindows.ts"
import { countLeases } from "./internal/sql/countLeases.ts"
import { putLeases } from "./internal/sql/putLeases.ts"
import { readCounters } from "./internal/sql/readCounters.ts"
import { readWindows } from "./internal/sql/readWindows.ts"
import { releaseLeases } from "./internal/sql/releaseLeases.ts"
import { sweepCounters } from "./internal/sql/sweepCounters.ts"
import { sweepLeases } from "./internal/sql/sweepLeases.ts"
import { sweepWindows } from "./internal/sql/sweepWindows.ts"
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
      take: (kind, demands) =>
        (kind === "window" ? takeFromWindows(sql, demands) : takeFromCounters(sql, kind, demands)).pipe(
          mapSql("RateLimitStore.take")
        ),
      add: (kind, amounts) =>
        (kind === "window" ? addToWindows(sql, amounts) : addToCounters(sql, kind, amounts)).pipe(
          mapSql("RateLimitStore.add")
        ),
      read: (kind, counters) =>
        (kind === "window" ? readWindows(sql, counters) : readCounters(sql, kind, counters)).pipe(
          mapSql("RateLimitStore.read")
        ),
      sweepCounters: (kind, kept, limit) =>
        sweepCounters(sql, kind, kept, limit).pipe(mapSql("RateLimitStore.sweepCounters")),
      sweepWindows: (limit) => sweepWindows(sql, limit).pipe(mapSql("RateLimitStore.sweepWindows")),
      acquire: (requests) => acquireLeases(sql, requests).pipe(mapSql("RateLimitStore.acquire")),
      renew: (places, lasts) =>
        putLeases(sql, places.map((place) => ({ ...place, lasts }))).pipe(mapSql("RateLimitStore.renew")),
      release: (ids) => releaseLeases(sql, ids).pipe(mapSql("RateLimitStore.release")),
      held: (key) =>
        countLeases(sql, [key]).pipe(
          Effect.map(([counted]) => counted?.live ?? 0),
          mapSql("RateLimitStore.held")
        ),
      sweepLeases: (limit) => sweepLeases(sql, limit).pipe(mapSql("RateLimitStore.sweepLeases"))
    })
  })
)
