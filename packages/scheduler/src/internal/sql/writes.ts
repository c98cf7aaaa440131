/** The statement that writes decided lanes, without promotions. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import * as Rows from "@kinora/persistence/Rows"
import { Effect, Option, Schema } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import type { LanesChanges, PlacedJob } from "../laneChanges.ts"
import type { JobPlace } from "../loadedLanes.ts"
import { type JobSlot, StaleLanes } from "../storeTypes.ts"
import * as Delays from "./delays.ts"
import * as JobIds from "./jobIds.ts"
import { holds } from "./leases.ts"
import { restampStatement, restampTable } from "./restamps.ts"
import { claimedColumns, decodeClaimed, toClaimed } from "./rows.ts"

/**
 * Deletes and inserts jobs, and sets counters and shares. Returns how many jobs and
 * counters still had the values that were loaded, the kinds of the jobs with other shares, and the job that was leased.
 */
export const write = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  changes: Written,
  now: Statement.Fragment,
  slot?: JobSlot
) {
  const { counts, parts } = partsOf(sql, changes, now, slot)
  const isRestamped = changes.restamped.length > 0
  const rows = yield* sql`
    WITH ${parts}
    SELECT
      ${counts.ended} AS ended,
      ${counts.added} AS added,
      ${counts.groups} AS groups,
      ${counts.lanes} AS lanes,
      ${counts.restamped} AS restamped,
      ${sql.literal(isRestamped ? "ARRAY(SELECT DISTINCT kind FROM restamped)" : "'{}'::text[]")} AS kinds
      ${slot === undefined ? sql`` : sql`, handed.* FROM (VALUES (1)) AS one_row LEFT JOIN ${handed(sql)} ON true`}
  `
  const [written] = yield* decodeWritten(Effect.succeed(rows))
  const [leased] = yield* decodeClaimed(Effect.succeed(rows.filter(isClaimed)))
  return { ...written!, handed: leased && toClaimed(leased) }
})

/**
 * Writes changes of which nothing is read, so that they can go with the commit. The statement divides by zero unless all
 * jobs and counters still have the values that were loaded. If they have changed, `writeUnread` dies with `StaleLanes`.
 */
export const writeUnread = (
  sql: SqlClient.SqlClient,
  changes: Written,
  now: Statement.Fragment
): Effect.Effect<void, SqlError.SqlError> => {
  const { counts, parts } = partsOf(sql, changes, now)
  const { ended, enqueued, groups, lanes } = changes
  return Pipelining.writeCurrent(
    sql,
    sql`
      WITH ${parts}
      SELECT
        1 / (
          ${counts.ended} = ${ended.length} AND ${counts.groups} = ${groups.length} AND ${counts.lanes} = ${lanes.length}
        )::int4 AS "areCurrent",
        -- Fails for a negative number, with another error: a delayed job has the id of a new one.
        sqrt(${counts.added} - ${enqueued.length}) AS "areNew"
    `,
    () => new StaleLanes()
  )
}

/** Columns of `scheduler_job` that are inserted as they are in the rows of `newJobs`. */
export const insertedColumns =
  "id, own_id, lane_id, group_id, kind, priority, payload, checkpoint, failures, attempts_max, time_limit_ms, unique_key"

/** Jobs to insert, as the rows `new`, with their `place` in the order. */
export const newJobs = (jobs: ReadonlyArray<PlacedJob>): Statement.Fragment =>
  Rows.table("new", jobs, newColumns, { place: "place" })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Written = Omit<LanesChanges, "postponed" | "promotions" | "retried">

/**
 * The parts of the statement, and their numbers of rows. Contains only the parts that have rows,
 * since Postgres prepares each part of a statement for each execution.
 */
const partsOf = (sql: SqlClient.SqlClient, changes: Written, now: Statement.Fragment, slot?: JobSlot) => {
  const { delayed, ended, enqueued, groups, lanes, restamped } = changes
  const [due, placed] = [ended.filter(isDelayed), ended.filter((job) => !isDelayed(job))]
  const parts = [
    ...(placed.length === 0 ? [] : [sql`ended_jobs AS (${deleteJobs(sql, placed)})`]),
    ...(due.length === 0 ? [] : [sql`ended_delays AS (${Delays.remove(sql, due)})`]),
    ...(delayed.length === 0 ? [] : [sql`delayed AS (${Delays.insert(sql, delayed, now)})`]),
    ...(enqueued.length === 0 ? [] : [sql`added AS (${insertJobs(sql, enqueued, now, slot)})`]),
    ...(groups.length === 0 ? [] : [sql`counted_groups AS (${countGroups(sql, groups)})`]),
    ...(lanes.length === 0 ? [] : [sql`counted_lanes AS (${countLanes(sql, lanes)})`]),
    ...(restamped.length === 0
      ? []
      : [
        sql`restamped AS (${restampStatement(sql, restampTable(restamped), JobIds.keys(placed.map(({ job }) => job)))})`
      ])
  ]
  const count = (rows: ReadonlyArray<unknown>, part: string) =>
    sql.literal(rows.length === 0 ? "0" : `(SELECT count(*) FROM ${part})::int4`)
  return {
    parts: sql.csv(parts),
    counts: {
      ended: sql`${count(placed, "ended_jobs")} + ${count(due, "ended_delays")}`,
      added: sql`${count(enqueued, "added")} + ${count(delayed, "delayed")}`,
      groups: count(groups, "counted_groups"),
      lanes: count(lanes, "counted_lanes"),
      restamped: count(restamped, "restamped")
    }
  }
}

const decodeWritten = Rows.decodeAll(
  Schema.Struct({
    ended: Schema.Int,
    added: Schema.Int,
    groups: Schema.Int,
    lanes: Schema.Int,
    restamped: Schema.Int,
    kinds: Schema.Array(Schema.String)
  })
)

const isClaimed = Schema.is(Schema.Struct({ job: Schema.String }))

const handed = (sql: SqlClient.SqlClient) => sql`(SELECT * FROM added WHERE state = 'running') AS handed`

const endedColumns: Rows.Columns<JobPlace> = {
  id: JobIds.keyColumn,
  ...Rows.fields({ state: "text", epoch: "int4" })
}

const deleteJobs = (sql: SqlClient.SqlClient, ended: ReadonlyArray<JobPlace>) =>
  sql`
    DELETE FROM scheduler_job AS job
    USING ${Rows.table("ended", ended, endedColumns)}
    WHERE job.id = ended.id AND job.state = ended.state AND job.epoch = ended.epoch
    RETURNING 1
  `

const newColumns: Rows.Columns<PlacedJob> = {
  id: JobIds.keyColumn,
  own_id: JobIds.ownIdColumn,
  lane_id: ["text", ({ lane }) => lane],
  group_id: ["text", ({ group }) => group],
  ...Rows.fields({ epoch: "int4", kind: "text", priority: "int4", payload: "json", state: "text", share: "float8" }),
  checkpoint: ["json?", ({ checkpoint }) => Option.getOrNull(checkpoint)],
  failures: ["int4", ({ failures }) => failures],
  attempts_max: ["int4", ({ attemptsMax }) => attemptsMax],
  time_limit_ms: ["int8?", ({ timeLimit }) => timeLimit],
  unique_key: ["text?", ({ uniqueKey }) => uniqueKey]
}

/** Inserts jobs, and leases that of the slot like a claim (`internal/leases.ts`). */
const insertJobs = (
  sql: SqlClient.SqlClient,
  enqueued: ReadonlyArray<PlacedJob>,
  now: Statement.Fragment,
  slot: JobSlot | undefined
) => {
  const isLeased = slot &&
    sql`(new.id = ANY(${JobIds.keys([slot.job])}) AND new.state = 'queued' AND ${holds(sql, slot, now)})`
  return sql`
    INSERT INTO scheduler_job AS job (
      ${sql.literal(insertedColumns)}, share, enqueued_at, epoch, state, attempt, started_at, lease, worker
    )
    SELECT
      ${sql.literal(insertedColumns)}, share, ${now},
      ${
    isLeased === undefined
      ? sql`epoch, state, 0, NULL, NULL, NULL`
      : sql`
        CASE WHEN is_leased THEN epoch + 1 ELSE epoch END,
        CASE WHEN is_leased THEN 'running' ELSE state END,
        CASE WHEN is_leased THEN 1 ELSE 0 END,
        CASE WHEN is_leased THEN ${now} END,
        CASE WHEN is_leased THEN ${slot!.lease} END,
        CASE WHEN is_leased THEN ${slot!.worker} END
      `
  }
    FROM ${newJobs(enqueued)}
    ${isLeased === undefined ? sql`` : sql`CROSS JOIN LATERAL (SELECT ${isLeased} AS is_leased) AS slot`}
    -- An aggregate, so that the index finds the few ids also before the table was analyzed.
    WHERE (SELECT count(*) FROM scheduler_delayed AS job WHERE job.id = new.id) = 0
    -- Positions are drawn in this order.
    ORDER BY place
    RETURNING ${slot === undefined ? sql.literal("1") : sql`${sql.literal(claimedColumns)}, ${now} AS "claimedAt"`}
  `
}

const groupColumns: Rows.Columns<LanesChanges["groups"][number]> = {
  id: ["text", ({ after }) => after.group],
  waiting: ["int4", ({ after }) => after.waiting],
  waiting_before: ["int4", ({ before }) => before.waiting]
}

const countGroups = (sql: SqlClient.SqlClient, groups: LanesChanges["groups"]) =>
  sql`
    UPDATE scheduler_group AS lane_group SET waiting = counted.waiting
    FROM ${Rows.table("counted", groups, groupColumns)}
    WHERE lane_group.id = counted.id AND lane_group.waiting = counted.waiting_before
    RETURNING 1
  `

const laneColumns: Rows.Columns<LanesChanges["lanes"][number]> = {
  id: ["text", ({ after }) => after.lane],
  cap: ["int4", ({ after }) => after.cap],
  held: ["int4", ({ after }) => after.held],
  waiting: ["int4", ({ after }) => after.waiting],
  held_max: ["int4", ({ after }) => after.heldMax],
  weight: ["int4", ({ after }) => after.weight],
  cap_before: ["int4", ({ before }) => before.cap],
  held_before: ["int4", ({ before }) => before.held],
  waiting_before: ["int4", ({ before }) => before.waiting]
}

const countLanes = (sql: SqlClient.SqlClient, lanes: LanesChanges["lanes"]) =>
  sql`
    UPDATE scheduler_lane AS lane
    SET cap = counted.cap, held = counted.held, waiting = counted.waiting, held_max = counted.held_max,
      weight = counted.weight
    FROM ${Rows.table("counted", lanes, laneColumns)}
    WHERE lane.id = counted.id
      AND lane.cap = counted.cap_before
      AND lane.held = counted.held_before
      AND lane.waiting = counted.waiting_before
     
    RETURNING 1
  `

const isDelayed = ({ state }: JobPlace) => state === "delayed"
