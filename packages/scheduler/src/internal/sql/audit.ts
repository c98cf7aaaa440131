/** Statements that compare counters with jobs. */
import * as Rows from "@kinora/persistence/Rows"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { GroupId } from "../ids.ts"
import type { LanesState } from "../loadedLanes.ts"
import { laneFields } from "./lanes.ts"
import { decodeIds } from "./rows.ts"

/** Differences between the counters and the jobs, in one snapshot. */
export const verify = (sql: SqlClient.SqlClient, limit: number) =>
  decodeDrifts(sql`
    WITH counted AS (
      SELECT
        lane.id, lane.group_id, lane.cap, lane.held, lane.waiting, lane.held_max,
        count(job.id) FILTER (WHERE job.state <> 'pending')::int4 AS held_found,
        count(job.id) FILTER (WHERE job.state = 'pending')::int4 AS waiting_found
      FROM scheduler_lane AS lane
      LEFT JOIN scheduler_job AS job ON job.lane_id = lane.id
      GROUP BY lane.id
    )
    SELECT 'lane' AS "of", id, 'held' AS counter, held AS stored, held_found AS found
    FROM counted WHERE held <> held_found
    UNION ALL
    -- A host of an earlier build raises the cap without held_max.
    SELECT 'lane', id, 'heldMax', greatest(held_max, cap), held_found
    FROM counted WHERE held_found > greatest(held_max, cap)
    UNION ALL
    SELECT 'lane', id, 'waiting', waiting, waiting_found
    FROM counted WHERE waiting <> waiting_found
    UNION ALL
    SELECT 'group', lane_group.id, 'waiting', lane_group.waiting, coalesce(sum(waiting_found), 0)::int4
    FROM scheduler_group AS lane_group
    LEFT JOIN counted ON counted.group_id = lane_group.id
    GROUP BY lane_group.id
    HAVING lane_group.waiting <> coalesce(sum(waiting_found), 0)
    ORDER BY 1, 2, 3
    LIMIT ${limit}
  `)

/** The ids of groups after one, in order. */
export const groupsAfter = (sql: SqlClient.SqlClient, after: GroupId, limit: number) =>
  decodeIds(sql`SELECT id FROM scheduler_group WHERE id > ${after} ORDER BY id LIMIT ${limit}`)

/** Locks groups and their lanes, and returns their counters together with the counted jobs. */
export const recount = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, groups: ReadonlyArray<GroupId>) {
  const storedGroups = yield* lockGroups(sql, groups)
  const storedLanes = yield* lockLanes(sql, groups)
  const lanes = yield* countLanes(sql, groups)
  const waiting = new Map(groups.map((group) => [group, 0]))
  for (const lane of lanes) waiting.set(lane.group, (waiting.get(lane.group) ?? 0) + lane.waiting)
  const state: LanesState = {
    groups: storedGroups,
    lanes: storedLanes,
    jobs: [],
    recount: { groups: Array.from(waiting, ([group, waiting]) => ({ group, waiting })), lanes }
  }
  return state
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const decodeDrifts = Rows.decodeAll(Schema.Struct({
  of: Schema.Literals(["lane", "group"]),
  id: Schema.String,
  counter: Schema.Literals(["held", "heldMax", "waiting"]),
  stored: Schema.Int,
  found: Schema.Int
}))

const lockGroups = (sql: SqlClient.SqlClient, groups: ReadonlyArray<GroupId>) =>
  decodeGroups(sql`
    SELECT id AS "group", waiting FROM scheduler_group
    WHERE id = ANY(${Rows.array("text", groups)})
    ORDER BY id
    FOR UPDATE
  `)

const decodeGroups = Rows.decodeAll(Schema.Struct({ group: Schema.String, waiting: Schema.Int }))

const lockLanes = (sql: SqlClient.SqlClient, groups: ReadonlyArray<GroupId>) =>
  decodeLanes(sql`
    SELECT id AS lane, group_id AS "group", cap, held, waiting, held_max AS "heldMax", weight
    FROM scheduler_lane
    WHERE group_id = ANY(${Rows.array("text", groups)})
    ORDER BY id
    FOR UPDATE
  `)

const countLanes = (sql: SqlClient.SqlClient, groups: ReadonlyArray<GroupId>) =>
  decodeLanes(sql`
    SELECT
      lane.id AS lane, lane.group_id AS "group", lane.cap, lane.weight,
      count(job.id) FILTER (WHERE job.state <> 'pending')::int4 AS held,
      count(job.id) FILTER (WHERE job.state = 'pending')::int4 AS waiting,
      greatest(lane.cap, count(job.id) FILTER (WHERE job.state <> 'pending'))::int4 AS "heldMax"
    FROM scheduler_lane AS lane
    LEFT JOIN scheduler_job AS job ON job.lane_id = lane.id
    WHERE lane.group_id = ANY(${Rows.array("text", groups)})
    GROUP BY lane.id
    ORDER BY lane.id
  `)

const decodeLanes = Rows.decodeAll(Schema.Struct(laneFields))
