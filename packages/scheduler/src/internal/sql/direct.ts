/** Statements that enqueue and end single jobs from which nothing else follows. `internal/memory/direct.ts` has the same rules. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { JobAddress, Lease } from "../../Job.ts"
import type { LaneCounters, NewJob } from "../loadedLanes.ts"
import { aheadMax } from "../shares.ts"
import type { LeaseTerms } from "../storeTypes.ts"
import * as JobIds from "./jobIds.ts"
import { holds } from "./leases.ts"
import { claimedColumns, decodeClaimed, toClaimed } from "./rows.ts"
import { insertedColumns, newJobs } from "./writes.ts"

/**
 * Enqueues a job into a free slot of its lane, and leases it to a worker. Locks the group and the lane in the order of `load`, and tests the
 * values that they have under the locks.
 */
export const enqueueLeased = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  job: NewJob,
  { cap, weight }: Pick<LaneCounters, "cap" | "weight">,
  terms: LeaseTerms
) {
  const now = yield* DatabaseTime.now
  const [leased] = yield* decodeClaimed(sql`
    WITH free AS MATERIALIZED (
      SELECT lane.id AS lane, lane.held FROM scheduler_group AS lane_group
      JOIN scheduler_lane AS lane ON lane.group_id = lane_group.id
      WHERE lane.id = ${job.lane} AND lane_group.id = ${job.group}
        AND lane.cap = ${cap} AND lane.weight = ${weight} AND lane.waiting = 0 AND lane.held < lane.cap
        AND NOT EXISTS (SELECT FROM scheduler_delayed WHERE id = ANY(${JobIds.keys([job.job])}))
        AND ${holds(sql, terms, now)}
      FOR UPDATE OF lane_group, lane SKIP LOCKED
    ), counted AS (
      UPDATE scheduler_lane AS lane SET held = lane.held + 1, held_max = lane.cap FROM free WHERE lane.id = free.lane
    )
    INSERT INTO scheduler_job AS job (${
    sql.literal(insertedColumns)
  }, share, epoch, state, attempt, enqueued_at, started_at, lease, worker)
      SELECT
        ${
    sql.literal(insertedColumns)
  }, least(free.held, ${aheadMax})::float8 / ${weight}, epoch + 1, 'running', 1, ${now}, ${now},
        ${terms.lease}, ${terms.worker}
      FROM ${newJobs([{ ...job, share: 0 }])} CROSS JOIN free
      RETURNING ${sql.literal(claimedColumns)}, ${now} AS "claimedAt"
  `)
  return leased && toClaimed(leased)
})

/**
 * Ends a running job. Locks its group, its lane and the job in the order of `load`. Returns whether it did. Looks again if the lane
 * changed while the statement waited for the lock, since it sees the jobs of the lane as they were before.
 */
export const end = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, lease: Lease & JobAddress) {
  for (let look = 0; look < looksMax; look++) {
    const { isEnded, wasIdle } = yield* endOnce(sql, lease)
    if (isEnded) return true
    if (!wasIdle) return false
  }
  return false
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Looks at a lane that changes each time, before a unit ends the job. */
const looksMax = 3

const endOnce = (sql: SqlClient.SqlClient, { epoch, group, job, lane }: Lease & JobAddress) => {
  const isIdle = sql`lane.waiting = 0 AND NOT EXISTS (
    SELECT FROM scheduler_job AS job WHERE job.lane_id = lane.id AND job.state = 'queued' AND job.started_at IS NULL
  )`
  const isHeld = sql`job.id = ANY(${JobIds.keys([job])}) AND job.state = 'running' AND job.epoch = ${epoch}`
  return Effect.map(
    decodeEnd(sql`
    WITH idle AS MATERIALIZED (
      SELECT lane.id FROM scheduler_group AS lane_group
      JOIN scheduler_lane AS lane ON lane.group_id = lane_group.id
      JOIN scheduler_lane AS seen ON seen.id = lane.id
      WHERE lane.id = ${lane} AND lane_group.id = ${group} AND ${isIdle}
        -- The locked row is the newest one, the other one that of the snapshot.
        AND lane.xmin = seen.xmin
      FOR UPDATE OF lane_group, lane
    ), ended AS (
      DELETE FROM scheduler_job AS job USING idle
      WHERE job.lane_id = idle.id AND ${isHeld}
      RETURNING job.lane_id AS id
    ), counted AS (
      UPDATE scheduler_lane AS lane
      SET held = lane.held - 1, held_max = greatest(lane.cap, least(lane.held - 1, lane.held_max))
      FROM ended
      WHERE lane.id = ended.id
      RETURNING 1
    )
    SELECT
      EXISTS (SELECT FROM counted) AS "isEnded",
      EXISTS (
        SELECT FROM scheduler_lane AS lane JOIN scheduler_job AS job ON job.lane_id = lane.id
        WHERE lane.id = ${lane} AND lane.group_id = ${group} AND ${isIdle} AND ${isHeld}
      ) AS "wasIdle"
  `),
    ([row]) => row!
  )
}

const decodeEnd = Rows.decodeAll(Schema.Struct({ isEnded: Schema.Boolean, wasIdle: Schema.Boolean }))
