/** Stores lanes and jobs in Postgres or PGlite, in the tables `scheduler_*`. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import { mapSql } from "@kinora/persistence/StorageError"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Audit from "./internal/sql/audit.ts"
import * as Changes from "./internal/sql/changes.ts"
import * as Claims from "./internal/sql/claims.ts"
import * as Delays from "./internal/sql/delays.ts"
import * as Direct from "./internal/sql/direct.ts"
import * as Forget from "./internal/sql/forget.ts"
import * as Lanes from "./internal/sql/lanes.ts"
import * as Leases from "./internal/sql/leases.ts"
import * as Queries from "./internal/sql/queries.ts"
import * as Schedules from "./internal/sql/schedules.ts"
import { settleAndClaim } from "./internal/sql/settleAndClaim.ts"
import * as Swaps from "./internal/sql/swaps.ts"
import * as Workers from "./internal/sql/workers.ts"
import * as Tables from "./migrations.ts"
import { SchedulerStore } from "./SchedulerStore.ts"

/** The tables of this package. */
export const migrations: Relocatable = Tables.migrations

/** Provides a store over the surrounding `SqlClient`. Run `migrations` first. */
export const layer: Layer.Layer<SchedulerStore, never, SqlClient.SqlClient> = Layer.effect(
  SchedulerStore,
  Effect.map(SqlClient.SqlClient, (sql) =>
    SchedulerStore.of({
      load: (request) => mapSql("SchedulerStore.load")(Lanes.load(sql, request)),
      peek: (lane, group) => mapSql("SchedulerStore.peek")(Lanes.peek(sql, lane, group)),
      apply: (changes, slot) => mapSql("SchedulerStore.apply")(Changes.apply(sql, changes, slot)),
      enqueueLeased: (job, lane, terms) =>
        mapSql("SchedulerStore.enqueueLeased")(Direct.enqueueLeased(sql, job, lane, terms)),
      end: (lease) => mapSql("SchedulerStore.end")(Direct.end(sql, lease)),
      settleAndClaim: (ended, terms) => mapSql("SchedulerStore.settleAndClaim")(settleAndClaim(sql, ended, terms)),
      swap: (limit) => mapSql("SchedulerStore.swap")(Swaps.swap(sql, limit)),
      due: (limit, except) => mapSql("SchedulerStore.due")(Delays.due(sql, limit, except)),
      lockFree: (lanes) => mapSql("SchedulerStore.lockFree")(Lanes.lockFree(sql, lanes)),
      findDue: (jobs) => mapSql("SchedulerStore.findDue")(Delays.findDue(sql, jobs)),
      dueIn: mapSql("SchedulerStore.dueIn")(Delays.dueIn(sql)),
      schedules: (names) => mapSql("SchedulerStore.schedules")(Schedules.schedules(sql, names)),
      advance: (advance) => mapSql("SchedulerStore.advance")(Schedules.advance(sql, advance)),
      claim: (terms) => mapSql("SchedulerStore.claim")(Claims.claim(sql, terms)),
      takeLease: (lease) => mapSql("SchedulerStore.takeLease")(Workers.take(sql, lease)),
      renewLease: (renewal) => mapSql("SchedulerStore.renewLease")(Workers.renew(sql, renewal)),
      drain: (worker, drains) => mapSql("SchedulerStore.drain")(Workers.drain(sql, worker, drains)),
      isDrained: (lease) => mapSql("SchedulerStore.isDrained")(Workers.isDrained(sql, lease)),
      returnLease: (lease) => mapSql("SchedulerStore.returnLease")(Effect.asVoid(Workers.remove(sql, lease))),
      endLeases: mapSql("SchedulerStore.endLeases")(Workers.endAll(sql)),
      isAloneDue: (question) => mapSql("SchedulerStore.isAloneDue")(Leases.isAloneDue(sql, question)),
      checkpoint: (checkpoints) => mapSql("SchedulerStore.checkpoint")(Leases.checkpoint(sql, checkpoints)),
      release: (leases) => mapSql("SchedulerStore.release")(Leases.release(sql, leases)),
      rescue: (terms) => mapSql("SchedulerStore.rescue")(Leases.rescue(sql, terms)),
      waiting: (age, limit, except) => mapSql("SchedulerStore.waiting")(Queries.waiting(sql, age, limit, except)),
      find: (jobs) => mapSql("SchedulerStore.find")(Queries.find(sql, jobs)),
      offers: mapSql("SchedulerStore.offers")(Workers.offers(sql)),
      workers: (selection) => mapSql("SchedulerStore.workers")(Workers.statuses(sql, selection)),
      lanes: (selection) => mapSql("SchedulerStore.lanes")(Queries.lanes(sql, selection)),
      queues: mapSql("SchedulerStore.queues")(Workers.queues(sql)),
      jobsOf: (selection) => mapSql("SchedulerStore.jobsOf")(Forget.jobsOf(sql, selection)),
      forgetLanes: (group, limit) => mapSql("SchedulerStore.forgetLanes")(Forget.forgetLanes(sql, group, limit)),
      verify: (limit) => mapSql("SchedulerStore.verify")(Audit.verify(sql, limit)),
      groupsAfter: (after, limit) => mapSql("SchedulerStore.groupsAfter")(Audit.groupsAfter(sql, after, limit)),
      recount: (groups) => mapSql("SchedulerStore.recount")(Audit.recount(sql, groups))
    }))
)
