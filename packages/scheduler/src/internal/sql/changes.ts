/** Statements that write decided lanes. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { LanesChanges, Promotion } from "../laneChanges.ts"
import { type JobPlace, StaleLanes } from "../loadedLanes.ts"
import { aheadMax, type Restamp } from "../shares.ts"
import type { Applied } from "../storeTypes.ts"
import { offeredKinds } from "./workers.ts"

/** Applies changes. */
export const apply = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, changes: LanesChanges) {
  const { ended, enqueued, groups, lanes, promotions, restamped } = changes
  // Jobs are deleted before others are inserted, since a new job may have the id of an ended one.
  if (ended.length > 0) {
    const deleted = yield* deleteJobs(sql, ended)
    if (deleted.length !== ended.length) return yield* Effect.die(new StaleLanes())
  }
  let applied: Applied = { promoted: [], restamped: 0 }
  if (enqueued.length > 0 || groups.length > 0 || lanes.length > 0 || restamped.length > 0) {
    const [written] = yield* write(sql, changes, yield* DatabaseTime.now)
    if (written?.groups !== groups.length || written.lanes !== lanes.length) return yield* Effect.die(new StaleLanes())
    applied = { promoted: [], restamped: written.restamped }
  }
  if (promotions.length === 0) return applied
  const rows = yield* promote(sql, promotions, yield* DatabaseTime.now)
  const promoted = rows.filter((row) => row.promoted)
  const expected = promotions.reduce((sum, { count }) => sum + count, 0)
  return promoted.length === expected
    ? { ...applied, promoted: promoted.map(({ id }) => id) }
    : yield* Effect.die(new Error(`${promoted.length} jobs are pending instead of at least ${expected}`))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const deleteJobs = (sql: SqlClient.SqlClient, ended: ReadonlyArray<JobPlace>) =>
  sql`
    DELETE FROM scheduler_job AS job
    USING ${
    Rows.table("ended", ended, {
      id: ["uuid", ({ job }) => job],
      ...Rows.fields({ state: "text", epoch: "int4" })
    })
  }
    WHERE job.id = ended.id AND job.state = ended.state AND job.epoch = ended.epoch
    RETURNING 1
  `

/** Inserts jobs, and sets counters and shares. Returns how many counters still had the values that were loaded. */
const write = (
  sql: SqlClient.SqlClient,
  { enqueued, groups, lanes, restamped }: LanesChanges,
  now: Statement.Fragment
) =>
  decodeWritten(sql`
    WITH added AS (
      INSERT INTO scheduler_job (
        id, lane_id, group_id, kind, payload, state, share, attempts_max, time_limit_ms, enqueued_at
      )
      SELECT id, lane_id, group_id, kind, payload, state, share, attempts_max, time_limit_ms, ${now}
      FROM ${
    Rows.table("new", enqueued, {
      id: ["uuid", ({ job }) => job],
      lane_id: ["text", ({ lane }) => lane],
      group_id: ["text", ({ group }) => group],
      ...Rows.fields({ kind: "text", payload: "json", state: "text", share: "float8" }),
      attempts_max: ["int4", ({ attemptsMax }) => attemptsMax],
      time_limit_ms: ["int8?", ({ timeLimit }) => timeLimit]
    }, { place: "place" })
  }
      -- Positions are drawn in this order.
      ORDER BY place
    ), counted_groups AS (
      UPDATE scheduler_group AS lane_group SET waiting = counted.waiting
      FROM ${
    Rows.table("counted", groups, {
      id: ["text", ({ after }) => after.group],
      waiting: ["int4", ({ after }) => after.waiting],
      waiting_before: ["int4", ({ before }) => before.waiting]
    })
  }
      WHERE lane_group.id = counted.id AND lane_group.waiting = counted.waiting_before
      RETURNING 1
    ), counted_lanes AS (
      UPDATE scheduler_lane AS lane
      SET cap = counted.cap, held = counted.held, waiting = counted.waiting, held_max = counted.held_max,
        weight = counted.weight
      FROM ${
    Rows.table("counted", lanes, {
      id: ["text", ({ after }) => after.lane],
      cap: ["int4", ({ after }) => after.cap],
      held: ["int4", ({ after }) => after.held],
      waiting: ["int4", ({ after }) => after.waiting],
      held_max: ["int4", ({ after }) => after.heldMax],
      weight: ["int4", ({ after }) => after.weight],
      cap_before: ["int4", ({ before }) => before.cap],
      held_before: ["int4", ({ before }) => before.held],
      waiting_before: ["int4", ({ before }) => before.waiting]
    })
  }
      WHERE lane.id = counted.id
        AND lane.cap = counted.cap_before
        AND lane.held = counted.held_before
        AND lane.waiting = counted.waiting_before
      RETURNING 1
    ), restamped AS (${restamped.length === 0 ? sql`SELECT 1 WHERE false` : restampStatement(sql, restamped)})
    SELECT
      (SELECT count(*) FROM counted_groups)::int4 AS groups,
      (SELECT count(*) FROM counted_lanes)::int4 AS lanes,
      (SELECT count(*) FROM restamped)::int4 AS restamped
  `)

const decodeWritten = Rows.decodeAll(
  Schema.Struct({ groups: Schema.Int, lanes: Schema.Int, restamped: Schema.Int })
)

/**
 * Sets the shares of queued jobs by the rule of `restamp` (`internal/shares.ts`). Skips locked
 * jobs, which are being claimed: their shares no longer matter.
 */
export const restampStatement = (sql: SqlClient.SqlClient, restamped: ReadonlyArray<Restamp>) =>
  sql`
    UPDATE scheduler_job AS job SET share = next.share
    FROM (
      SELECT locked.id, ranked.share
      FROM (
        SELECT
          held.id, held.share AS before, held.state, held.epoch,
          least(row_number() OVER (PARTITION BY lane.id ORDER BY held.position) - 1, ${aheadMax})::float8
            / lane.weight AS share
        FROM ${
    Rows.table("lane", restamped, {
      id: ["text", ({ lane }) => lane],
      ...Rows.fields({ weight: "int4", limit: "int8?" })
    })
  }
        CROSS JOIN LATERAL (
          SELECT id, position, state, epoch, share FROM scheduler_job
          WHERE lane_id = lane.id AND state <> 'pending'
          ORDER BY position
          LIMIT lane."limit"
        ) AS held
      ) AS ranked
      CROSS JOIN LATERAL (
        SELECT id FROM scheduler_job WHERE id = ranked.id AND state = 'queued' FOR UPDATE SKIP LOCKED
      ) AS locked
      WHERE ranked.state = 'queued' AND ranked.epoch = 0 AND ranked.before <> ranked.share
    ) AS next
    WHERE job.id = next.id
    RETURNING 1
  `

/**
 * Queues pending jobs: those that a worker claims first (`internal/swaps.ts`). Locks none of them,
 * since pending jobs change only under the lock of their lane.
 */
const promote = (sql: SqlClient.SqlClient, promotions: ReadonlyArray<Promotion>, now: Statement.Fragment) =>
  decodePromoted(sql`
    WITH offered AS MATERIALIZED (
      SELECT job.id, job.position, job.lane_id
      FROM ${roomTable(promotions)}
      CROSS JOIN LATERAL (
        SELECT id, position, lane_id FROM scheduler_job
        WHERE lane_id = room.lane_id AND state = 'pending' AND kind = ANY(${offeredKinds(sql, now)})
        ORDER BY position
        LIMIT room.count
      ) AS job
    ), promoted AS MATERIALIZED (
      SELECT id, position, lane_id FROM offered
      UNION ALL
      SELECT job.id, job.position, job.lane_id
      FROM ${roomTable(promotions)}
      CROSS JOIN LATERAL (
        SELECT id, position, lane_id FROM scheduler_job
        WHERE lane_id = room.lane_id AND state = 'pending' AND kind <> ALL(${offeredKinds(sql, now)})
        ORDER BY position
        LIMIT room.count - (SELECT count(*) FROM offered WHERE offered.lane_id = room.lane_id)
      ) AS job
    ), in_line AS (
      SELECT id, position, lane_id, true AS promoted FROM promoted
      UNION ALL
      SELECT id, position, lane_id, false FROM scheduler_job
      WHERE id = ANY(${Rows.array("uuid", promotions.flatMap(({ beside }) => beside))})
      ORDER BY position
    ), shared AS (
      SELECT
        in_line.id, in_line.promoted, in_line.position,
        least(room.ahead + row_number() OVER (PARTITION BY in_line.lane_id ORDER BY in_line.position) - 1, ${aheadMax})::float8
          / room.weight AS share
      FROM in_line
      JOIN ${roomTable(promotions)} ON room.lane_id = in_line.lane_id
      ORDER BY in_line.position
    ), next AS MATERIALIZED (
      SELECT id, promoted, share, nextval('scheduler_position') AS position FROM shared
    )
    UPDATE scheduler_job AS job SET state = 'queued', position = next.position, share = next.share
    FROM next
    -- The planner cannot estimate the rows of \`next\`, and reads the whole table for too high
    -- an estimate. The array makes it use the primary key.
    WHERE job.id = ANY(ARRAY(SELECT id FROM next)) AND job.id = next.id
    RETURNING job.id, next.promoted
  `)

const roomTable = (promotions: ReadonlyArray<Promotion>) =>
  Rows.table("room", promotions, {
    lane_id: ["text", ({ lane }) => lane],
    ...Rows.fields({ count: "int4", ahead: "int4", weight: "int4" })
  })

const decodePromoted = Rows.decodeAll(Schema.Struct({ id: Schema.String, promoted: Schema.Boolean }))
