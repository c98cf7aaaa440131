/** Statements that write decided lanes. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { StorageError } from "@kinora/persistence/StorageError"
import { Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type LanesChanges, noChanges, type PlacedJob } from "../laneChanges.ts"
import { type JobPlace, StaleLanes } from "../loadedLanes.ts"
import { aheadMax, type Restamp } from "../shares.ts"
import type { Applied } from "../storeTypes.ts"
import * as Delays from "./delays.ts"
import * as JobIds from "./jobIds.ts"
import { promote } from "./promotions.ts"

/** Applies changes. */
export const apply = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, changes: LanesChanges) {
  const { delayed, ended, enqueued, groups, lanes, postponed, promotions, restamped, retried } = changes
  if ((yield* Delays.retry(sql, retried, yield* DatabaseTime.now)) !== retried.length) {
    return yield* Effect.die(new StaleLanes())
  }
  // Before others are inserted, since a new job may have the id of an ended one. Otherwise with the counters, in one round trip.
  const isFirst = ended.length > 0 && enqueued.length + delayed.length > 0
  if (isFirst) {
    const [written] = yield* write(sql, { ...noChanges, ended }, yield* DatabaseTime.now)
    if (written?.ended !== ended.length) return yield* Effect.die(new StaleLanes())
  }
  const rest = isFirst ? { ...changes, ended: [] } : changes
  let applied: Applied = { promoted: [], restamped: 0 }
  let hasPriorities = true
  if (
    rest.ended.length + enqueued.length + delayed.length + groups.length + lanes.length + restamped.length > 0
  ) {
    const [written] = yield* write(sql, rest, yield* DatabaseTime.now)
    // The statement does not see the jobs that it inserts.
    hasPriorities = written?.prioritized === true || enqueued.some(({ priority }) => priority > 0)
    if (
      written?.ended !== rest.ended.length || written.groups !== groups.length || written.lanes !== lanes.length
    ) return yield* Effect.die(new StaleLanes())
    if (written.added !== enqueued.length + delayed.length) return yield* Effect.fail(duplicate())
    applied = { promoted: [], restamped: written.restamped }
  }
  if (postponed.length > 0) yield* Delays.postpone(sql, postponed, yield* DatabaseTime.now)
  if (promotions.length === 0) return applied
  const rows = yield* promote(sql, promotions, yield* DatabaseTime.now, hasPriorities)
  const promoted = rows.filter((row) => row.promoted)
  const expected = promotions.reduce((sum, { count }) => sum + count, 0)
  return promoted.length === expected
    ? { ...applied, promoted: promoted.map(({ id }) => id) }
    : yield* Effect.die(new Error(`${promoted.length} jobs are pending instead of at least ${expected}`))
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Written = Omit<LanesChanges, "postponed" | "retried">

/** The index of a table refuses most duplicates, but not a delayed job with the id of another one. */
const duplicate = () =>
  new StorageError({
    operation: "SchedulerStore.apply",
    reason: "failed",
    cause: new Error("A job with the id of an enqueued one exists already")
  })

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

const enqueuedColumns: Rows.Columns<PlacedJob> = {
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

const insertJobs = (sql: SqlClient.SqlClient, enqueued: ReadonlyArray<PlacedJob>, now: Statement.Fragment) =>
  sql`
    INSERT INTO scheduler_job (
      id, own_id, lane_id, group_id, epoch, kind, priority, payload, checkpoint, failures, state, share, attempts_max,
      time_limit_ms, unique_key, enqueued_at
    )
    SELECT
      id, own_id, lane_id, group_id, epoch, kind, priority, payload, checkpoint, failures, state, share, attempts_max,
      time_limit_ms, unique_key, ${now}
    FROM ${Rows.table("new", enqueued, enqueuedColumns, { place: "place" })}
    -- An aggregate, so that the index finds the few ids also before the table was analyzed.
    WHERE (SELECT count(*) FROM scheduler_delayed AS job WHERE job.id = new.id) = 0
    -- Positions are drawn in this order.
    ORDER BY place
    RETURNING 1
  `

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

/**
 * Deletes and inserts jobs, and sets counters and shares. Contains only the parts that have rows,
 * since Postgres prepares each part of a statement for each execution. Returns how many jobs and
 * counters still had the values that were loaded, and whether a pending job has a priority, if some get slots.
 */
const write = (
  sql: SqlClient.SqlClient,
  { delayed, ended, enqueued, groups, lanes, promotions, restamped }: Written,
  now: Statement.Fragment
) => {
  const [due, placed] = [ended.filter(isDelayed), ended.filter((job) => !isDelayed(job))]
  const parts = [
    ...(placed.length === 0 ? [] : [sql`ended_jobs AS (${deleteJobs(sql, placed)})`]),
    ...(due.length === 0 ? [] : [sql`ended_delays AS (${Delays.remove(sql, due)})`]),
    ...(delayed.length === 0 ? [] : [sql`delayed AS (${Delays.insert(sql, delayed, now)})`]),
    ...(enqueued.length === 0 ? [] : [sql`added AS (${insertJobs(sql, enqueued, now)})`]),
    ...(groups.length === 0 ? [] : [sql`counted_groups AS (${countGroups(sql, groups)})`]),
    ...(lanes.length === 0 ? [] : [sql`counted_lanes AS (${countLanes(sql, lanes)})`]),
    ...(restamped.length === 0 ? [] : [sql`restamped AS (${restampStatement(sql, restamped, placed)})`])
  ]
  const count = (rows: ReadonlyArray<unknown>, part: string) =>
    sql.literal(rows.length === 0 ? "0" : `(SELECT count(*) FROM ${part})::int4`)
  return decodeWritten(sql`
    WITH ${sql.csv(parts)}
    SELECT
      ${count(placed, "ended_jobs")} + ${count(due, "ended_delays")} AS ended,
      ${count(enqueued, "added")} + ${count(delayed, "delayed")} AS added,
      ${count(groups, "counted_groups")} AS groups,
      ${count(lanes, "counted_lanes")} AS lanes,
      ${count(restamped, "restamped")} AS restamped,
      ${promotions.length === 0 ? sql.literal("false") : isAnyPrioritized(sql)} AS prioritized
  `)
}

const decodeWritten = Rows.decodeAll(
  Schema.Struct({
    ended: Schema.Int,
    added: Schema.Int,
    groups: Schema.Int,
    lanes: Schema.Int,
    restamped: Schema.Int,
    prioritized: Schema.Boolean
  })
)

/** Whether any pending job has a priority. Ordered like the index that contains only these. */
const isAnyPrioritized = (sql: SqlClient.SqlClient) =>
  sql`(
    SELECT id FROM scheduler_job WHERE state = 'pending' AND priority > 0 ORDER BY lane_id, priority DESC, position LIMIT 1
  ) IS NOT NULL`

const isDelayed = ({ state }: JobPlace) => state === "delayed"

const restampColumns: Rows.Columns<Restamp> = {
  id: ["text", ({ lane }) => lane],
  ...Rows.fields({ weight: "int4", limit: "int8?" })
}

/**
 * Sets the shares of queued jobs by the rule of `restamp` (`internal/shares.ts`). Skips locked
 * jobs, which are being claimed: their shares no longer matter, or they have got other places. Does not
 * count `ended` jobs, which the same statement deletes but still sees.
 */
export const restampStatement = (
  sql: SqlClient.SqlClient,
  restamped: ReadonlyArray<Restamp>,
  ended: ReadonlyArray<JobPlace>
) =>
  sql`
    UPDATE scheduler_job AS job SET share = next.share
    FROM (
      SELECT locked.id, ranked.share
      FROM (
        SELECT
          held.id, held.position, held.share AS before, held.state, held.started_at,
          least(row_number() OVER (PARTITION BY lane.id ORDER BY held.position) - 1, ${aheadMax})::float8
            / lane.weight AS share
        FROM ${Rows.table("lane", restamped, restampColumns)}
        CROSS JOIN LATERAL (
          SELECT id, position, state, started_at, share FROM scheduler_job
          WHERE lane_id = lane.id AND state <> 'pending' AND id <> ALL(${JobIds.keys(ended.map(({ job }) => job))})
          ORDER BY position
          LIMIT lane."limit"
        ) AS held
      ) AS ranked
      CROSS JOIN LATERAL (
        SELECT id FROM scheduler_job WHERE id = ranked.id AND state = 'queued' AND position = ranked.position
        FOR UPDATE SKIP LOCKED
      ) AS locked
      WHERE ranked.state = 'queued' AND ranked.started_at IS NULL AND ranked.before <> ranked.share
    ) AS next
    WHERE job.id = next.id
    RETURNING 1
  `
