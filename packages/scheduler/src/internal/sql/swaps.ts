/** Statements that exchange the slots of jobs. `internal/swaps.ts` has the same rules as pure functions. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { LaneId } from "../ids.ts"
import type { Swapped } from "../storeTypes.ts"
import * as JobIds from "./jobIds.ts"
import { ageInSql } from "./priorities.ts"
import { restampStatement, restampTable } from "./restamps.ts"
import { addressColumns, addressFields } from "./rows.ts"
import { offeredKinds } from "./workers.ts"

/**
 * Exchanges queued jobs that no worker claims with pending jobs that a worker claims. Locks the
 * lanes first, since pending jobs change only under the lock of their lane, and reads the jobs
 * after that. Skips locked lanes and jobs, so it waits for nobody; the next call finds them.
 */
export const swap = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, limit: number) {
  const now = yield* DatabaseTime.now
  const lanes = yield* decodeLanes(lockLanes(sql, limit, now))
  if (lanes.length === 0) return nothing
  const rows = yield* decodeSwapped(exchange(sql, lanes.map(({ lane }) => lane), limit, now))
  const changed = new Set(rows.map(({ lane }) => lane))
  const restamped = lanes.filter(({ lane }) => changed.has(lane)).map((lane) => ({ ...lane, limit: undefined }))
  if (restamped.length > 0) {
    yield* restampStatement(sql, restampTable(restamped), JobIds.keys([]))
    yield* touchLanes(sql, restamped.map(({ lane }) => lane))
  }
  const swapped: Swapped = {
    promoted: rows.filter(({ isPromoted }) => isPromoted).map(toAddress),
    displaced: rows.filter(({ isPromoted }) => !isPromoted).map(toAddress)
  }
  return swapped
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const nothing: Swapped = { promoted: [], displaced: [] }

/**
 * Locks lanes in which jobs can be exchanged. The kinds of queued jobs are read from an index, one
 * step per kind, so the statement is cheap while workers claim all of them.
 */
const lockLanes = (sql: SqlClient.SqlClient, limit: number, now: Statement.Fragment) =>
  sql`
    WITH RECURSIVE queued (kind) AS (
      SELECT min(kind) FROM scheduler_job WHERE state = 'queued'
      UNION ALL
      SELECT (SELECT min(kind) FROM scheduler_job WHERE state = 'queued' AND kind > queued.kind)
      FROM queued WHERE queued.kind IS NOT NULL
    ), full_lanes AS MATERIALIZED (
      SELECT DISTINCT job.lane_id FROM queued
      JOIN scheduler_job AS job ON job.kind = queued.kind
      WHERE queued.kind <> ALL(${offeredKinds(sql, now)}) AND job.state = 'queued' AND job.started_at IS NULL
    )
    SELECT id AS lane, weight FROM scheduler_lane
    WHERE waiting > 0
      AND id IN (SELECT lane_id FROM full_lanes)
      AND EXISTS (
        SELECT 1 FROM scheduler_job AS job
        WHERE job.lane_id = scheduler_lane.id AND job.state = 'pending' AND job.kind = ANY(${offeredKinds(sql, now)})
      )
    ORDER BY id
    LIMIT ${limit}
    FOR UPDATE SKIP LOCKED
  `

/** Writes the lanes, whose counters are the same, so that a job that ends in one statement looks for the jobs of its lane again. */
const touchLanes = (sql: SqlClient.SqlClient, lanes: ReadonlyArray<LaneId>) =>
  sql`UPDATE scheduler_lane SET held = held WHERE id = ANY(${Rows.array("text", lanes)})`

const decodeLanes = Rows.decodeAll(Schema.Struct({ lane: Schema.String, weight: Schema.Int }))

const exchange = (sql: SqlClient.SqlClient, lanes: ReadonlyArray<LaneId>, limit: number, now: Statement.Fragment) =>
  sql`
    WITH stranded AS MATERIALIZED (
      SELECT id, lane_id, priority, ${sql.literal(ageInSql)} AS age FROM scheduler_job
      WHERE lane_id = ANY(${Rows.array("text", lanes)}) AND state = 'queued' AND started_at IS NULL
        AND kind <> ALL(${offeredKinds(sql, now)})
      ORDER BY id
      FOR UPDATE SKIP LOCKED
    ), displaced AS (
      SELECT id, lane_id, row_number() OVER (PARTITION BY lane_id ORDER BY priority, age DESC) AS rank FROM stranded
    ), promoted AS (
      SELECT id, lane_id, row_number() OVER (PARTITION BY lane_id ORDER BY priority DESC, position) AS rank
      FROM scheduler_job
      WHERE lane_id = ANY(${Rows.array("text", lanes)}) AND state = 'pending' AND kind = ANY(${offeredKinds(sql, now)})
    ), pairs AS MATERIALIZED (
      SELECT lane_id, rank, promoted.id AS promoted, displaced.id AS displaced
      FROM promoted JOIN displaced USING (lane_id, rank)
      ORDER BY lane_id, rank
      LIMIT ${limit}
    ), first AS (
      SELECT lane_id, min(position) AS position FROM scheduler_job
      WHERE lane_id = ANY(${Rows.array("text", lanes)}) AND state = 'pending'
      GROUP BY lane_id
    ), moved AS MATERIALIZED (
      SELECT promoted AS id, true AS is_promoted, nextval('scheduler_position') AS position
      FROM (SELECT promoted FROM pairs ORDER BY lane_id, rank) AS in_order
      UNION ALL
      SELECT pairs.displaced, false, first.position - pairs.rank FROM pairs JOIN first USING (lane_id)
    )
    UPDATE scheduler_job AS job SET
      state = CASE WHEN moved.is_promoted THEN 'queued' ELSE 'pending' END,
      position = moved.position,
      own_position = NULL,
      share = 0
    FROM moved
    WHERE job.id = ANY(ARRAY(SELECT id FROM moved)) AND job.id = moved.id
    RETURNING ${sql.literal(addressColumns)}, moved.is_promoted AS "isPromoted"
  `

const decodeSwapped = Rows.decodeAll(Schema.Struct({ ...addressFields, isPromoted: Schema.Boolean }))

const toAddress = ({ group, job, lane }: { readonly job: string; readonly lane: string; readonly group: string }) => ({
  job,
  lane,
  group
})
