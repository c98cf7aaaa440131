/** Statements that forget groups. */
import * as Rows from "@kinora/persistence/Rows"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { GroupId } from "../ids.ts"
import type { GroupJobs } from "../storeTypes.ts"
import { addressColumns, addressFields } from "./rows.ts"

/** Finds jobs of a group by the indexes of its lanes, without locks. */
export const jobsOf = (sql: SqlClient.SqlClient, { group, limit, running }: GroupJobs) =>
  decodeAddresses(sql`
    SELECT found.job, found.lane, found."group"
    FROM scheduler_lane AS lane
    CROSS JOIN LATERAL (
      (
        SELECT ${sql.literal(addressColumns)}, 1 AS rank FROM scheduler_delayed AS job
        WHERE job.lane_id = lane.id LIMIT ${limit}
      )
      UNION ALL
      (
        SELECT ${sql.literal(addressColumns)}, 2 AS rank FROM scheduler_job AS job
        WHERE job.lane_id = lane.id AND job.state = 'pending' ORDER BY job.priority DESC, job.position LIMIT ${limit}
      )
      UNION ALL
      (
        SELECT ${sql.literal(addressColumns)}, 3 AS rank FROM scheduler_job AS job
        WHERE job.lane_id = lane.id AND job.state = 'queued' ORDER BY job.position LIMIT ${limit}
      )
      UNION ALL
      (
        SELECT ${sql.literal(addressColumns)}, 4 AS rank FROM scheduler_job AS job
        WHERE job.lane_id = lane.id AND job.state = 'running' AND ${running} ORDER BY job.position LIMIT ${limit}
      )
    ) AS found
    WHERE lane.group_id = ${group}
    ORDER BY lane.id, found.rank
    LIMIT ${limit}
  `)

/**
 * Deletes lanes without jobs, and the group without lanes. A function of SQL can add a job without a lock on the lane, but not
 * while the lane is locked, so the jobs are looked for again under the lock.
 */
export const forgetLanes = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, group: GroupId, limit: number) {
  const locked = yield* sql`SELECT 1 FROM scheduler_group WHERE id = ${group} FOR UPDATE`
  // Others may create the group from here on, and its lanes must not be locked before it.
  if (locked.length === 0) return 0
  const empty = yield* decodeIds(sql`
    SELECT lane.id FROM scheduler_lane AS lane
    WHERE lane.group_id = ${group} AND ${withoutJobs(sql)}
    ORDER BY lane.id
    LIMIT ${limit}
    FOR UPDATE
  `)
  const deleted = yield* sql`
    DELETE FROM scheduler_lane AS lane
    WHERE lane.id = ANY(${Rows.array("text", empty.map(({ id }) => id))}) AND ${withoutJobs(sql)}
    RETURNING 1
  `
  yield* sql`
    DELETE FROM scheduler_group
    WHERE id = ${group} AND NOT EXISTS (SELECT 1 FROM scheduler_lane WHERE group_id = ${group})
  `
  return deleted.length
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A condition per index. */
const withoutJobs = (sql: SqlClient.SqlClient) =>
  sql`
    NOT EXISTS (SELECT 1 FROM scheduler_job AS job WHERE job.lane_id = lane.id AND job.state = 'pending')
    AND NOT EXISTS (SELECT 1 FROM scheduler_job AS job WHERE job.lane_id = lane.id AND job.state = 'queued')
    AND NOT EXISTS (SELECT 1 FROM scheduler_job AS job WHERE job.lane_id = lane.id AND job.state = 'running')
    AND NOT EXISTS (SELECT 1 FROM scheduler_delayed AS job WHERE job.lane_id = lane.id)
  `

const decodeAddresses = Rows.decodeAll(Schema.Struct(addressFields))

const decodeIds = Rows.decodeAll(Schema.Struct({ id: Schema.String }))
