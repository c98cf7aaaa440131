/** Rows of the scheduler's tables, and their conversion to domain values. */
import * as Rows from "@kinora/persistence/Rows"
import { Duration, Effect, Option, Schema } from "effect"
import type { ClaimedJob, JobAddress, JobStatus } from "../../Job.ts"
import type { JobId } from "../ids.ts"
import type { JobPlace } from "../loadedLanes.ts"
import { idInSql } from "./jobIds.ts"

const State = Schema.Literals(["delayed", "pending", "queued", "running"])

/** Fields of rows with `addressColumns`. */
export const addressFields = { job: Schema.String, lane: Schema.String, group: Schema.String }

/** Columns of a job's address, from a table with the alias `job`. */
export const addressColumns = `${idInSql} AS job, job.lane_id AS lane, job.group_id AS "group"`

const IdRow = Schema.Struct({ id: Schema.String })

/** Decodes rows with the column `id`, and returns the ids. */
export const decodeIds = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<ReadonlyArray<JobId>, E | Schema.SchemaError, R> =>
  Effect.map(decodeIdRows(statement), (rows) => rows.map(({ id }) => id))

const decodeIdRows = Rows.decodeAll(IdRow)

const stateColumns = `${addressColumns}, job.state, job.epoch`

/** Columns of a `JobPlace`. */
export const placeColumns = `${stateColumns}, job.unique_key AS "uniqueKey"`

/** The same columns, from `scheduler_delayed AS job`. */
export const delayedPlaceColumns = `${addressColumns}, 'delayed' AS state, job.epoch, job.unique_key AS "uniqueKey"`

/** Decodes rows with `placeColumns`. */
export const decodePlaces = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<ReadonlyArray<JobPlace>, E | Schema.SchemaError, R> =>
  Effect.map(
    decodePlaceRows(statement),
    (rows) => rows.map(({ uniqueKey, ...row }) => ({ ...row, uniqueKey: uniqueKey ?? undefined }))
  )

const decodePlaceRows = Rows.decodeAll(
  Schema.Struct({ ...addressFields, state: State, epoch: Schema.Int, uniqueKey: Schema.NullOr(Schema.String) })
)

/** Columns of a `JobStatus`. */
export const statusColumns =
  `${stateColumns}, job.kind, job.attempt, job.failures, job.priority, job.enqueued_at AS "enqueuedAt", job.worker,
    NULL::timestamptz AS "dueAt"`

/** The same columns, from `scheduler_delayed AS job`. */
export const delayedStatusColumns =
  `${addressColumns}, 'delayed', job.epoch, job.kind, 0, job.failures, job.priority, job.enqueued_at, NULL, job.due_at`

const StatusRow = Schema.Struct({
  ...addressFields,
  kind: Schema.String,
  state: State,
  epoch: Schema.Int,
  attempt: Schema.Int,
  failures: Schema.Int,
  priority: Schema.Int,
  enqueuedAt: Rows.timestamptz,
  worker: Schema.NullOr(Schema.String),
  dueAt: Schema.NullOr(Rows.timestamptz)
})

/** Decodes rows with `statusColumns`. */
export const decodeStatuses = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<ReadonlyArray<JobStatus>, E | Schema.SchemaError, R> =>
  Effect.map(
    decodeStatusRows(statement),
    (rows) =>
      rows.map(({ dueAt, worker, ...row }) => ({
        ...row,
        worker: Option.fromNullOr(worker),
        dueAt: Option.fromNullOr(dueAt)
      }))
  )

const decodeStatusRows = Rows.decodeAll(StatusRow)

/** Columns of a `ClaimedJob` except `claimedAt`, and its state. */
export const claimedColumns = `
  ${stateColumns}, job.kind, job.payload, job.checkpoint, job.attempt, job.attempts_max AS "attemptsMax", job.failures,
  job.enqueued_at AS "enqueuedAt", job.started_at AS "startedAt", job.time_limit_ms AS "timeLimit", job.position,
  job.share
`

/** A row with `claimedColumns` and `claimedAt`. */
const ClaimedRow = Schema.Struct({
  ...addressFields,
  kind: Schema.String,
  state: State,
  payload: Schema.Json,
  checkpoint: Schema.Json,
  epoch: Schema.Int,
  attempt: Schema.Int,
  attemptsMax: Schema.Int,
  failures: Schema.Int,
  enqueuedAt: Rows.timestamptz,
  startedAt: Rows.timestamptz,
  claimedAt: Rows.timestamptz,
  timeLimit: Schema.NullOr(Rows.int8),
  position: Rows.int8,
  share: Schema.Number
})

/** Decodes rows with `claimedColumns` and `claimedAt`, in the order of their positions. `RETURNING` has no order. */
export const decodeClaimed = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<ReadonlyArray<typeof ClaimedRow.Type>, E | Schema.SchemaError, R> =>
  Effect.map(decodeClaimedRows(statement), (rows) => rows.toSorted((a, b) => a.position < b.position ? -1 : 1))

const decodeClaimedRows = Rows.decodeAll(ClaimedRow)

/** Decodes rows like `decodeClaimed`, or one row without a job. `isAhead`: whether nothing was claimed because a job comes before others. */
export const decodeClaimedUnlessAhead = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.gen(function*() {
    const found = yield* statement
    const nothing = found.find(isNothing)
    const rows = nothing === undefined ? yield* decodeClaimed(Effect.succeed(found)) : []
    return { isAhead: nothing?.isAhead ?? false, rows }
  })

const isNothing = Schema.is(Schema.Struct({ job: Schema.Null, isAhead: Schema.Boolean }))

/** The address of a job. */
export const toAddress = ({ group, job, lane }: typeof ClaimedRow.Type): JobAddress => ({ job, lane, group })

/** A job as its worker gets it. */
export const toClaimed = (row: typeof ClaimedRow.Type): ClaimedJob => ({
  job: row.job,
  lane: row.lane,
  group: row.group,
  kind: row.kind,
  payload: row.payload,
  checkpoint: Option.fromNullOr(row.checkpoint),
  epoch: row.epoch,
  attempt: row.attempt,
  attemptsMax: row.attemptsMax,
  failures: row.failures,
  enqueuedAt: row.enqueuedAt,
  startedAt: row.startedAt,
  claimedAt: row.claimedAt,
  timeLimit: Option.map(Option.fromNullOr(row.timeLimit), (millis) => Duration.millis(Number(millis)))
})
