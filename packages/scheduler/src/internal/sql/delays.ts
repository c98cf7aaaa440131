/** Statements on delayed jobs. `internal/delays.ts` has their rules. */
import * as DatabaseTime from "@kinora/persistence/DatabaseTime"
import * as Rows from "@kinora/persistence/Rows"
import { Duration, Effect, Option, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { NewDelayed, Postponed, StoredDelayed } from "../delays.ts"
import type { GroupId, JobId } from "../ids.ts"
import type { Retried } from "../laneChanges.ts"
import type { JobPlace } from "../loadedLanes.ts"
import * as JobIds from "./jobIds.ts"
import { addressColumns, addressFields, decodePlaces, delayedPlaceColumns } from "./rows.ts"

/** Delayed jobs that are due, the earliest first, without those of some groups. */
export const due = Effect.fnUntraced(function*(
  sql: SqlClient.SqlClient,
  limit: number,
  except: ReadonlyArray<GroupId>
) {
  const now = yield* DatabaseTime.now
  const others = except.length === 0 ? sql`` : sql`AND job.group_id <> ALL(${Rows.array("text", except)})`
  return yield* decodeAddresses(sql`
    SELECT ${sql.literal(addressColumns)} FROM scheduler_delayed AS job
    WHERE job.try_at <= ${now} ${others}
    ORDER BY job.try_at, job.id
    LIMIT ${limit}
  `)
})

/** Those of the jobs that are delayed and due, the earliest first. */
export const findDue = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, jobs: ReadonlyArray<JobId>) {
  const now = yield* DatabaseTime.now
  const rows = yield* decodeDelayed(sql`
    SELECT
      ${sql.literal(addressColumns)}, job.epoch, job.kind, job.priority, job.payload, job.attempts_max AS "attemptsMax",
      job.time_limit_ms AS "timeLimit", job.waiting_max AS "waitingMax", job.enqueued_at AS "enqueuedAt",
      job.due_at AS "dueAt", job.try_at AS "tryAt", job.refusals,
      job.failures, job.checkpoint, job.unique_key AS "uniqueKey"
    FROM scheduler_delayed AS job
    WHERE job.id = ANY(${JobIds.keys(jobs)}) AND job.try_at <= ${now}
    ORDER BY job.due_at, job.id
  `)
  return rows.map(({ checkpoint, timeLimit, uniqueKey, waitingMax, ...row }): StoredDelayed => ({
    ...row,
    checkpoint: Option.fromNullOr(checkpoint),
    timeLimit: timeLimit === null ? undefined : Number(timeLimit),
    waitingMax: waitingMax ?? undefined,
    uniqueKey: uniqueKey ?? undefined
  }))
})

/** The time until the next delayed job is due. */
export const dueIn = Effect.fnUntraced(function*(sql: SqlClient.SqlClient) {
  const now = yield* DatabaseTime.now
  const [row] = yield* decodeDueIn(sql`
    SELECT (extract(epoch FROM min(try_at) - ${now}) * 1000)::float8 AS millis FROM scheduler_delayed
  `)
  return Option.map(Option.fromNullishOr(row?.millis), (millis) => Duration.millis(Math.max(0, Math.ceil(millis))))
})

/** Locks those of the jobs that are delayed, and returns their places. */
export const lock = (sql: SqlClient.SqlClient, jobs: ReadonlyArray<JobId>) =>
  decodePlaces(sql`
    SELECT ${sql.literal(delayedPlaceColumns)} FROM scheduler_delayed AS job
    WHERE job.id = ANY(${JobIds.keys(jobs)})
    ORDER BY job.id
    FOR UPDATE
  `)

const columns: Rows.Columns<NewDelayed> = {
  id: JobIds.keyColumn,
  own_id: JobIds.ownIdColumn,
  lane_id: ["text", ({ lane }) => lane],
  group_id: ["text", ({ group }) => group],
  ...Rows.fields({ epoch: "int4", kind: "text", priority: "int4", payload: "json" }),
  attempts_max: ["int4", ({ attemptsMax }) => attemptsMax],
  time_limit_ms: ["int8?", ({ timeLimit }) => timeLimit],
  waiting_max: ["int4?", ({ waitingMax }) => waitingMax === undefined ? undefined : toInt4(waitingMax)],
  unique_key: ["text?", ({ uniqueKey }) => uniqueKey],
  due_at: ["timestamptz?", ({ due }) => due.at],
  due_in: ["float8?", ({ due }) => due.millis]
}

/** Inserts delayed jobs, except those whose id a job has that is not delayed. */
export const insert = (sql: SqlClient.SqlClient, jobs: ReadonlyArray<NewDelayed>, now: Statement.Fragment) =>
  sql`
    INSERT INTO scheduler_delayed (
      id, own_id, lane_id, group_id, epoch, kind, priority, payload, attempts_max, time_limit_ms, waiting_max, unique_key,
      enqueued_at, due_at, try_at
    )
    SELECT
      id, own_id, lane_id, group_id, epoch, kind, priority, payload, attempts_max, time_limit_ms, waiting_max, unique_key,
      ${now},
      coalesce(due_at, ${now} + due_in * interval '1 millisecond'),
      coalesce(due_at, ${now} + due_in * interval '1 millisecond')
    FROM ${Rows.table("new", jobs, columns)}
    WHERE (SELECT count(*) FROM scheduler_job AS job WHERE job.id = new.id) = 0
    RETURNING 1
  `

/** Deletes delayed jobs. */
export const remove = (sql: SqlClient.SqlClient, jobs: ReadonlyArray<JobPlace>) =>
  sql`
    DELETE FROM scheduler_delayed WHERE id = ANY(${JobIds.keys(jobs.map(({ job }) => job))}) RETURNING 1
  `

/** Delays running jobs that failed. Returns how many ran under the epochs that were loaded. */
export const retry = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, jobs: ReadonlyArray<Retried>, now: Statement.Fragment) {
    if (jobs.length === 0) return 0
    const moved = yield* sql`
      WITH ended AS (
        DELETE FROM scheduler_job AS job
        USING ${Rows.table("failed", jobs, retriedColumns)}
        WHERE job.id = failed.id AND job.state = 'running' AND job.epoch = failed.epoch
        RETURNING
          job.id, job.own_id, job.lane_id, job.group_id, job.epoch, job.kind, job.priority, job.payload, job.checkpoint,
          job.failures, job.attempts_max, job.time_limit_ms, job.unique_key, job.enqueued_at,
          ${now} + failed.millis * interval '1 millisecond' AS due_at
      )
      INSERT INTO scheduler_delayed (
        id, own_id, lane_id, group_id, epoch, kind, priority, payload, checkpoint, failures, attempts_max, time_limit_ms,
        unique_key, enqueued_at, due_at, try_at
      )
      SELECT
        id, own_id, lane_id, group_id, epoch, kind, priority, payload, checkpoint, failures + 1, attempts_max, time_limit_ms,
        unique_key, enqueued_at, due_at, due_at
      FROM ended
      RETURNING 1
    `
    return moved.length
  }
)

/** Sets when due jobs are tried again. */
export const postpone = (sql: SqlClient.SqlClient, jobs: ReadonlyArray<Postponed>, now: Statement.Fragment) =>
  sql`
    UPDATE scheduler_delayed AS job
    SET try_at = ${now} + later.millis * interval '1 millisecond', refusals = job.refusals + 1
    FROM ${Rows.table("later", jobs, postponedColumns)}
    WHERE job.id = later.id
  `

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The whole number with which a limit on counters, which are int4 and at least 0, has the same effect. */
const toInt4 = (limit: number): number => Math.max(0, Math.min(Math.ceil(limit), 2 ** 31 - 1))

const retriedColumns: Rows.Columns<Retried> = {
  id: JobIds.keyColumn,
  ...Rows.fields({ epoch: "int4", millis: "float8" })
}

const postponedColumns: Rows.Columns<Postponed> = {
  id: JobIds.keyColumn,
  ...Rows.fields({ millis: "float8" })
}

const decodeAddresses = Rows.decodeAll(Schema.Struct(addressFields))

const decodeDelayed = Rows.decodeAll(Schema.Struct({
  ...addressFields,
  epoch: Schema.Int,
  kind: Schema.String,
  priority: Schema.Int,
  payload: Schema.Json,
  attemptsMax: Schema.Int,
  timeLimit: Schema.NullOr(Rows.int8),
  waitingMax: Schema.NullOr(Schema.Int),
  enqueuedAt: Rows.timestamptz,
  dueAt: Rows.timestamptz,
  tryAt: Rows.timestamptz,
  refusals: Schema.Int,
  failures: Schema.Int,
  checkpoint: Schema.Json,
  uniqueKey: Schema.NullOr(Schema.String)
}))

const decodeDueIn = Rows.decodeAll(Schema.Struct({ millis: Schema.NullOr(Schema.Number) }))
