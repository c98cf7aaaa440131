/**
 * The statement that ends jobs, gives their slots to pending jobs, and leases these to the worker. It does in one round trip what
 * `end` of `internal/sql/direct.ts`, `promote` and `claim` do, for the lanes that nobody else changes meanwhile.
 */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { JobAddress, Lease } from "../../Job.ts"
import { aheadMax } from "../shares.ts"
import type { RefillTerms, Settled } from "../storeTypes.ts"
import * as JobIds from "./jobIds.ts"
import { holds } from "./leases.ts"
import { restampStatement } from "./restamps.ts"
import { claimedColumns, decodeClaimed, toClaimed } from "./rows.ts"
import { offeredKinds } from "./workers.ts"

/** Ends jobs, and leases those that get their slots. Returns the jobs that it left. */
export const settleAndClaim = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  ended: ReadonlyArray<Lease & JobAddress>,
  terms: RefillTerms
) {
  const rows = yield* settleAndClaimStatement(sql, ended, terms, yield* DatabaseTime.now)
  const [summary] = yield* decodeSummary(Effect.succeed(rows.slice(0, 1)))
  const claimed = yield* decodeClaimed(Effect.succeed(rows.filter(isClaimed)))
  const settled: Settled = {
    left: summary!.left,
    hasQueued: summary!.kinds.length > 0,
    kinds: summary!.kinds,
    claimed: claimed.toSorted((a, b) => a.share - b.share).map(toClaimed)
  }
  return settled
})

/**
 * Locks the lanes and their groups in the order of `load`, without waiting, and leaves out lanes that changed after the statement began,
 * of whose jobs it would see an old state. So a lane that is locked has the pending jobs that the statement sees.
 *
 * Leaves out lanes whose next pending job no worker claims, since `promote` then searches for others.
 */
export const settleAndClaimStatement = (
  sql: SqlClient.SqlClient,
  ended: ReadonlyArray<Lease & JobAddress>,
  terms: RefillTerms,
  now: Statement.Fragment
) =>
  sql`
    WITH given AS MATERIALIZED (SELECT *, 'running' AS state FROM ${
    Rows.table("given", ended, endedColumns, ofAnyLength)
  })
    , seen AS MATERIALIZED (${seeLanes(sql, ended)})
    , locked AS MATERIALIZED (${lockUnchanged(sql)})
    , front AS MATERIALIZED (${nextPending(sql)})
    , lanes AS MATERIALIZED (
      SELECT * FROM locked
      WHERE id NOT IN (SELECT lane_id FROM front WHERE rank <= wanted AND kind <> ALL(${offeredKinds(sql, now)}))
    )
    , running AS MATERIALIZED (${lockJobs(sql)})
    , ended AS (${deleteJobs(sql)})
    , freed AS MATERIALIZED (${freedLanes(sql)})
    , promoted AS MATERIALIZED (${promotedJobs(sql, terms, now)})
    , placed AS (${placeJobs(sql, terms, now)})
    , counted_lanes AS (${countLanes(sql)})
    , counted_groups AS (${countGroups(sql)})
    , restamped AS (
      ${restampStatement(sql, restampedLanes(sql), sql`ARRAY(SELECT id FROM ended)`)}
    )
    SELECT
      ARRAY(
        SELECT given.job FROM given WHERE given.id NOT IN (SELECT id FROM ended)
      ) AS left,
      ARRAY(SELECT kind FROM placed WHERE state = 'queued' UNION SELECT kind FROM restamped) AS kinds,
      claimed.*
    FROM (VALUES (1)) AS one_row
    LEFT JOIN (SELECT * FROM placed WHERE state = 'running') AS claimed ON true
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isClaimed = Schema.is(Schema.Struct({ job: Schema.String }))

const decodeSummary = Rows.decodeAll(
  Schema.Struct({ left: Schema.Array(Schema.String), kinds: Schema.Array(Schema.String) })
)

/** The indexes find each row, so one plan serves sets of all sizes. Planning takes longer than the execution. */
const ofAnyLength = { unknownLength: true } as const

const endedColumns: Rows.Columns<Lease & JobAddress> = {
  id: JobIds.keyColumn,
  job: ["text", ({ job }) => job],
  epoch: ["int4", ({ epoch }) => epoch],
  lane_id: ["text", ({ lane }) => lane]
}

interface WantedLane {
  readonly lane: string
  readonly group: string
  readonly ended: number
}

const wantedColumns: Rows.Columns<WantedLane> = {
  lane_id: ["text", ({ lane }) => lane],
  group_id: ["text", ({ group }) => group],
  ended: ["int4", ({ ended }) => ended]
}

const wantedLanes = (ended: ReadonlyArray<JobAddress>): ReadonlyArray<WantedLane> =>
  Array.from(
    Map.groupBy(ended, ({ group, lane }) => `${lane.length}:${lane}${group}`).values(),
    (jobs) => ({ lane: jobs[0]!.lane, group: jobs[0]!.group, ended: jobs.length })
  )

/** The lanes and their groups in the snapshot of the statement, and where these rows are stored. */
const seeLanes = (sql: SqlClient.SqlClient, ended: ReadonlyArray<JobAddress>) =>
  sql`
    SELECT lane.ctid AS lane_row, lane.xmin AS lane_version,
      lane_group.ctid AS group_row, lane_group.xmin AS group_version, wanted.ended
    FROM ${Rows.table("wanted", wantedLanes(ended), wantedColumns, ofAnyLength)}
    JOIN scheduler_group AS lane_group ON lane_group.id = wanted.group_id
    JOIN scheduler_lane AS lane ON lane.id = wanted.lane_id AND lane.group_id = wanted.group_id
  `

/** A locked row is the newest one, which is where it was seen if its version is the same. `wanted`: the number of slots that are free at most. */
const lockUnchanged = (sql: SqlClient.SqlClient) =>
  sql`
    SELECT lane.id, lane.cap, lane.held, lane.waiting, lane.held_max, lane.weight, seen.lane_row, seen.group_row,
      least(lane.waiting, greatest(0, lane.cap - lane.held + seen.ended)) AS wanted
    FROM seen
    JOIN scheduler_group AS lane_group ON lane_group.ctid = seen.group_row
    JOIN scheduler_lane AS lane ON lane.ctid = seen.lane_row
    WHERE lane_group.xmin = seen.group_version AND lane.xmin = seen.lane_version
    ORDER BY lane.group_id, lane.id
    FOR UPDATE OF lane_group, lane SKIP LOCKED
  `

/** The pending jobs that get slots if all jobs end. */
const nextPending = (sql: SqlClient.SqlClient) =>
  sql`
    SELECT locked.id AS lane_id, locked.wanted, pending.row, pending.kind, pending.position,
      row_number() OVER (PARTITION BY locked.id ORDER BY pending.priority DESC, pending.position) AS rank
    FROM locked
    CROSS JOIN LATERAL (
      SELECT ctid AS row, kind, priority, position FROM scheduler_job
      WHERE lane_id = locked.id AND state = 'pending'
      ORDER BY priority DESC, position LIMIT locked.wanted
    ) AS pending
  `

/**
 * Waits for no job, since a statement on leases locks jobs without their lanes. The state is compared with that of `given`, since the
 * planner would read a whole partial index for a constant one.
 */
const lockJobs = (sql: SqlClient.SqlClient) =>
  sql`
    SELECT job.ctid AS row FROM given
    JOIN lanes ON lanes.id = given.lane_id
    JOIN scheduler_job AS job ON job.id = given.id AND job.lane_id = given.lane_id
    WHERE job.state = given.state AND job.epoch = given.epoch
    FOR UPDATE OF job SKIP LOCKED
  `

const deleteJobs = (sql: SqlClient.SqlClient) =>
  sql`
    DELETE FROM scheduler_job AS job WHERE job.ctid = ANY(ARRAY(SELECT row FROM running))
    RETURNING job.id, job.lane_id
  `

/**
 * `ahead`: jobs that keep their slots. `room`: pending jobs that get one. A full join, here and below, since the planner expects one row
 * of each side, and would compare all lanes with all jobs.
 */
const freedLanes = (sql: SqlClient.SqlClient) =>
  sql`
    SELECT lanes.*, lanes.held - coalesce(counted.ended, 0) AS ahead,
      least(lanes.waiting, greatest(0, lanes.cap - lanes.held + coalesce(counted.ended, 0))) AS room
    FROM lanes
    FULL JOIN (SELECT lane_id, count(*)::int4 AS ended FROM ended GROUP BY lane_id) AS counted ON counted.lane_id = lanes.id
  `

/** The pending jobs that get slots, with their places, like `promote`. The first ones are claimed, unless other queued jobs come first. */
const promotedJobs = (sql: SqlClient.SqlClient, terms: RefillTerms, now: Statement.Fragment) => {
  const isOwn = sql`kind = ANY(${Rows.array("text", terms.kinds, ofAnyLength)})`
  return sql`
    SELECT row, share, 'pending' AS state, nextval('scheduler_position') AS position,
      is_own AND own <= ${terms.limit} AND ${holds(sql, terms, now)} AND NOT EXISTS (
        SELECT FROM scheduler_job WHERE state = 'queued' AND ${isOwn} AND alone_from IS NULL
      ) AS is_claimed
    FROM (
      SELECT *, count(*) FILTER (WHERE is_own) OVER () AS own FROM (
        SELECT front.row, front.position, ${isOwn} AS is_own,
          least(
            freed.ahead + row_number() OVER (PARTITION BY freed.id ORDER BY front.position) - 1, ${aheadMax}
          )::float8 / freed.weight AS share
        FROM freed FULL JOIN front ON front.lane_id = freed.id
        WHERE coalesce(front.rank <= freed.room, false)
      ) AS shared
      ORDER BY position
    ) AS in_line
  `
}

/** The arrays hide the number of rows from the planner, which would read the whole table for too high an estimate. */
const placeJobs = (sql: SqlClient.SqlClient, terms: RefillTerms, now: Statement.Fragment) =>
  sql`
    UPDATE scheduler_job AS job SET
      state = CASE WHEN is_claimed THEN 'running' ELSE 'queued' END,
      epoch = CASE WHEN is_claimed THEN job.epoch + 1 ELSE job.epoch END,
      attempt = CASE WHEN is_claimed THEN job.attempt + 1 ELSE job.attempt END,
      started_at = CASE WHEN is_claimed THEN coalesce(job.started_at, ${now}) ELSE job.started_at END,
      lease = CASE WHEN is_claimed THEN ${terms.lease} END,
      worker = CASE WHEN is_claimed THEN ${terms.worker} ELSE job.worker END,
      share = place.share,
      position = place.position
    FROM unnest(
      ARRAY(SELECT row FROM promoted), ARRAY(SELECT share FROM promoted), ARRAY(SELECT position FROM promoted),
      ARRAY(SELECT is_claimed FROM promoted), ARRAY(SELECT state FROM promoted)
    ) AS place (row, share, position, is_claimed, state)
    WHERE job.ctid = place.row AND job.state = place.state
    RETURNING ${sql.literal(claimedColumns)}, ${now} AS "claimedAt"
  `

/** Counts the jobs that were promoted. If fewer are than there is room for, the constraint of the table refuses the row. */
const countLanes = (sql: SqlClient.SqlClient) =>
  sql`
    UPDATE scheduler_lane AS lane SET
      held = counted.held,
      waiting = lane.waiting - counted.promoted,
      held_max = greatest(lane.cap, least(counted.held, lane.held_max))
    FROM (
      SELECT freed.lane_row, freed.group_row, freed.ahead + coalesce(own.promoted, 0) AS held, coalesce(own.promoted, 0) AS promoted
      FROM freed FULL JOIN (SELECT lane, count(*)::int4 AS promoted FROM placed GROUP BY lane) AS own ON own.lane = freed.id
    ) AS counted
    WHERE lane.ctid = counted.lane_row
    RETURNING counted.group_row, counted.promoted
  `

const countGroups = (sql: SqlClient.SqlClient) =>
  sql`
    UPDATE scheduler_group AS lane_group SET waiting = lane_group.waiting - counted.promoted
    FROM (
      SELECT group_row, sum(promoted)::int4 AS promoted FROM counted_lanes WHERE promoted > 0 GROUP BY group_row
    ) AS counted
    WHERE lane_group.ctid = counted.group_row
  `

/** The lanes whose queued jobs may get other shares. None if no job is queued at all. */
const restampedLanes = (sql: SqlClient.SqlClient) =>
  sql`(
    SELECT id, weight, ${aheadMax}::int8 AS "limit" FROM freed
    WHERE ahead > 0 AND EXISTS (SELECT FROM scheduler_job WHERE state = 'queued')
  ) AS lane`
