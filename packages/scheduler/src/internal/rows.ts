/** Rows of the scheduler's tables, and the domain values that they are. */
import { Duration, Effect, Option, Schema } from "effect"
import type { ClaimedJob, JobAddress, JobStatus } from "../Job.ts"

const State = Schema.Literals(["pending", "queued", "running"])

const address = { job: Schema.String, lane: Schema.String, group: Schema.String }

export const IdRow = Schema.Struct({ id: Schema.String })

export const PromotedRow = Schema.Struct({ id: Schema.String, promoted: Schema.Boolean })

export const LaneRow = Schema.Struct({
  lane: Schema.String,
  group: Schema.String,
  cap: Schema.Int,
  held: Schema.Int,
  waiting: Schema.Int,
  groupWaiting: Schema.Int
})

export const CountedLaneRow = Schema.Struct({
  lane: Schema.String,
  group: Schema.String,
  cap: Schema.Int,
  held: Schema.Int,
  waiting: Schema.Int
})

export const PlaceRow = Schema.Struct({ ...address, state: State, epoch: Schema.Int })

export const StatusRow = Schema.Struct({
  ...address,
  kind: Schema.String,
  state: State,
  epoch: Schema.Int,
  attempt: Schema.Int,
  enqueuedAt: Schema.DateTimeUtcFromDate,
  worker: Schema.NullOr(Schema.String)
})

export const ClaimedRow = Schema.Struct({
  ...address,
  kind: Schema.String,
  state: State,
  payload: Schema.Json,
  checkpoint: Schema.Json,
  epoch: Schema.Int,
  attempt: Schema.Int,
  attemptsMax: Schema.Int,
  enqueuedAt: Schema.DateTimeUtcFromDate,
  startedAt: Schema.DateTimeUtcFromDate,
  timeLimit: Schema.NullOr(Schema.BigInt),
  position: Schema.BigInt
})

export const DriftRow = Schema.Struct({
  of: Schema.Literals(["lane", "group"]),
  id: Schema.String,
  counter: Schema.Literals(["held", "waiting"]),
  stored: Schema.Int,
  found: Schema.Int
})

export const toAddress = ({ group, job, lane }: typeof ClaimedRow.Type): JobAddress => ({ job, lane, group })

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
  enqueuedAt: row.enqueuedAt,
  startedAt: row.startedAt,
  timeLimit: Option.map(Option.fromNullOr(row.timeLimit), (millis) => Duration.millis(Number(millis)))
})

export const toStatus = ({ worker, ...row }: typeof StatusRow.Type): JobStatus => ({
  ...row,
  worker: Option.fromNullOr(worker)
})

/** An `UPDATE ... RETURNING` answers in no order; this is the one in which jobs got their slots. */
export const byPosition = (a: typeof ClaimedRow.Type, b: typeof ClaimedRow.Type): number =>
  a.position < b.position ? -1 : 1

/** Decodes what a statement answers. A row that does not decode is corruption. */
export const decodeRows = <Row extends Schema.Codec<unknown, unknown>>(row: Row) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array<Row>(row))
  return <E, R>(
    statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
  ): Effect.Effect<ReadonlyArray<Row["Type"]>, E | Schema.SchemaError, R> => Effect.flatMap(statement, decode)
}
