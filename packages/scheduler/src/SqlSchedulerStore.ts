/** Stores lanes and jobs in Postgres or PGlite, in the tables `scheduler_*`. */
import type { Migrations } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Audit from "./internal/sql/audit.ts"
import * as Changes from "./internal/sql/changes.ts"
import * as Lanes from "./internal/sql/lanes.ts"
import * as Leases from "./internal/sql/leases.ts"
import * as Schema from "./internal/sql/migrations.ts"
import * as Offers from "./internal/sql/offers.ts"
import * as Queries from "./internal/sql/queries.ts"
import { SchedulerStore } from "./SchedulerStore.ts"

/** The tables of this package. */
export const migrations: Migrations = {
  namespace: "scheduler",
  migrations: {
    "0001_lanes_and_jobs": Schema.lanesAndJobs,
    "0002_held_max": Schema.heldMax,
    "0003_pools": Schema.pools,
    "0004_offers": Schema.offers
  }
}

/** Provides a store over the surrounding `SqlClient`. Run `migrations` first. */
export const layer: Layer.Layer<SchedulerStore, never, SqlClient.SqlClient> = Layer.effect(
  SchedulerStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    SchedulerStore.of({
      load: (request) => mapSql("SchedulerStore.load")(Lanes.load(sql, request)),
      apply: (changes, now) => mapSql("SchedulerStore.apply")(Changes.apply(sql, changes, now)),
      claim: (terms) => mapSql("SchedulerStore.claim")(Leases.claim(sql, terms)),
      heartbeat: (leases, until) => mapSql("SchedulerStore.heartbeat")(Leases.heartbeat(sql, leases, until)),
      checkpoint: (checkpoints) => mapSql("SchedulerStore.checkpoint")(Leases.checkpoint(sql, checkpoints)),
      release: (leases) => mapSql("SchedulerStore.release")(Leases.release(sql, leases)),
      rescue: (terms) => mapSql("SchedulerStore.rescue")(Leases.rescue(sql, terms)),
      expireFirstLeases: (now) => mapSql("SchedulerStore.expireFirstLeases")(Leases.expireFirstLeases(sql, now)),
      waitingSince: (before, limit, except) =>
        mapSql("SchedulerStore.waitingSince")(Queries.waitingSince(sql, before, limit, except)),
      find: (jobs) => mapSql("SchedulerStore.find")(Queries.find(sql, jobs)),
      announce: (offer, now) => mapSql("SchedulerStore.announce")(Effect.asVoid(Offers.announce(sql, offer, now))),
      retract: (id) => mapSql("SchedulerStore.retract")(Effect.asVoid(Offers.retract(sql, id))),
      offers: (now) => mapSql("SchedulerStore.offers")(Offers.offers(sql, now)),
      queues: (now) => mapSql("SchedulerStore.queues")(Offers.queues(sql, now)),
      verify: (limit) => mapSql("SchedulerStore.verify")(Audit.verify(sql, limit)),
      groupsAfter: (after, limit) => mapSql("SchedulerStore.groupsAfter")(Audit.groupsAfter(sql, after, limit)),
      recount: (groups) => mapSql("SchedulerStore.recount")(Audit.recount(sql, groups))
    }))
)
