/** The tables of lanes and jobs, for programs that run migrations themselves. */
import type { Relocatable } from "@kinora/persistence/Migrations"
import * as Schema from "./internal/sql/migrations.ts"
import { ownIds } from "./internal/sql/ownIds.ts"
import { indexes, priorities } from "./internal/sql/priorities.ts"

/** The migrations. `Migrations.run` of `@kinora/persistence` and the command `kinora-migrate` run them. */
export const migrations: Relocatable = {
  namespace: "scheduler",
  migrations: {
    "0001_lanes_and_jobs": Schema.lanesAndJobs,
    "0002_held_max": Schema.heldMax,
    "0003_pools": Schema.pools,
    "0004_offers": Schema.offers,
    "0005_worker_leases": Schema.workerLeases,
    "0006_fair_claims": Schema.fairClaims,
    "0007_room_for_updates": Schema.roomForUpdates,
    "0008_resumable": Schema.resumable,
    "0009_worker_starts": Schema.workerStarts,
    "0010_worker_drains": Schema.workerDrains,
    "0011_delayed_jobs": Schema.delayedJobs,
    "0012_retries": Schema.retries,
    "0013_unique_keys": Schema.uniqueKeys,
    "0014_schedules": Schema.schedules,
    "0015_add_job": Schema.addJob,
    "0016_own_ids": ownIds,
    "0017_priorities": priorities
  },
  indexes: { ...indexes, ...Schema.indexesOfLanes },
  replacedIndexes: Schema.replacedIndexes,
  objects: {
    tables: [
      "scheduler_group",
      "scheduler_lane",
      "scheduler_job",
      "scheduler_delayed",
      "scheduler_worker",
      "scheduler_schedule"
    ],
    sequences: ["scheduler_position"],
    functions: ["scheduler_add_job"]
  }
}
