/** Statements that find jobs and lanes without locking them. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { type Duration, Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { JobId } from "../ids.ts"
import type { LaneSelection } from "../storeTypes.ts"
import * as JobIds from "./jobIds.ts"
import { decodeStatuses, delayedStatusColumns, statusColumns } from "./rows.ts"

/** Jobs with these ids. One statement, so that a job that becomes due meanwhile is found once. */
export const find = (sql: SqlClient.SqlClient, jobs: ReadonlyArray<JobId>) =>
  Effect.map(
    decodeStatuses(sql`
      SELECT ${sql.literal(statusColumns)} FROM scheduler_job AS job
      WHERE job.id = ANY(${JobIds.keys(jobs)})
      UNION ALL
      SELECT ${sql.literal(delayedStatusColumns)} FROM scheduler_delayed AS job
      WHERE job.id = ANY(${JobIds.keys(jobs)})
      ORDER BY job
    `),
    (found) => JobIds.withIds(found, jobs)
  )

/** Jobs that have not started and were enqueued longer ago than a duration, oldest first. */
export const waiting = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, age: Duration.Duration, limit: number, except: ReadonlyArray<JobId>) {
    const now = yield* DatabaseTime.now
    return yield* decodeStatuses(sql`
      SELECT ${sql.literal(statusColumns)} FROM scheduler_job AS job
      WHERE job.state <> 'running'
        AND job.started_at IS NULL
        AND job.enqueued_at < ${DatabaseTime.before(now, age)}
        AND job.id <> ALL(${JobIds.keys(except)})
      ORDER BY job.enqueued_at, job.position
      LIMIT ${limit}
    `)
  }
)

/** A page of the lanes that have a job, by id. */
export const lanes = (sql: SqlClient.SqlClient, { after = "", group, limit }: LaneSelection) =>
  decodeLanes(sql`
    WITH RECURSIVE ${group === undefined ? usedLanes(sql, after, limit) : lanesOfGroup(sql, group, after, limit)}
    SELECT
      lane.id AS lane, lane.group_id AS "group", lane.cap, lane.weight,
      (
        SELECT count(*)::int4 FROM scheduler_job AS job WHERE job.lane_id = lane.id AND job.state = 'pending'
      ) AS pending,
      (
        SELECT count(*)::int4 FROM scheduler_job AS job WHERE job.lane_id = lane.id AND job.state = 'queued'
      ) AS queued,
      (
        SELECT count(*)::int4 FROM scheduler_job AS job WHERE job.lane_id = lane.id AND job.state = 'running'
      ) AS running,
      (SELECT count(*)::int4 FROM scheduler_delayed AS job WHERE job.lane_id = lane.id) AS delayed
    FROM used
    JOIN scheduler_lane AS lane ON lane.id = used.lane
    ORDER BY lane.id
  `)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The next lanes that have a job. Reads four indexes, one step per lane, so the cost does not depend on the jobs. */
const usedLanes = (sql: SqlClient.SqlClient, after: string, limit: number) =>
  sql`
    used (lane, number) AS (
      SELECT ${nextLane(sql, sql`${after}`)}, 1
      UNION ALL
      SELECT ${nextLane(sql, sql.literal("used.lane"))}, used.number + 1
      FROM used WHERE used.lane IS NOT NULL AND used.number < ${limit}
    )
  `

const nextLane = (sql: SqlClient.SqlClient, after: Statement.Fragment) =>
  sql`least(
    (SELECT min(lane_id) FROM scheduler_job WHERE state = 'pending' AND lane_id > ${after}),
    (SELECT min(lane_id) FROM scheduler_job WHERE state = 'queued' AND lane_id > ${after}),
    (SELECT min(lane_id) FROM scheduler_job WHERE state = 'running' AND lane_id > ${after}),
    (SELECT min(lane_id) FROM scheduler_delayed WHERE lane_id > ${after})
  )`

const lanesOfGroup = (sql: SqlClient.SqlClient, group: string, after: string, limit: number) =>
  sql`
    used (lane) AS (
      SELECT id FROM scheduler_lane
      WHERE group_id = ${group} AND id > ${after}
        AND (
          EXISTS (SELECT 1 FROM scheduler_job AS job WHERE job.lane_id = scheduler_lane.id AND job.state = 'pending')
          OR EXISTS (SELECT 1 FROM scheduler_job AS job WHERE job.lane_id = scheduler_lane.id AND job.state = 'queued')
          OR EXISTS (SELECT 1 FROM scheduler_job AS job WHERE job.lane_id = scheduler_lane.id AND job.state = 'running')
          OR EXISTS (SELECT 1 FROM scheduler_delayed AS job WHERE job.lane_id = scheduler_lane.id)
        )
      ORDER BY id
      LIMIT ${limit}
    )
  `

const decodeLanes = Rows.decodeAll(Schema.Struct({
  lane: Schema.String,
  group: Schema.String,
  cap: Schema.Int,
  weight: Schema.Int,
  pending: Schema.Int,
  queued: Schema.Int,
  running: Schema.Int,
  delayed: Schema.Int
}))
