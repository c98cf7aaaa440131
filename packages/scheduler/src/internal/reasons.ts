/** The reasons to refuse a command. */
import { Schema } from "effect"

/** The group has the maximum number of waiting jobs. */
export class QueueFull extends Schema.TaggedError<QueueFull>("@kinora/scheduler/QueueFull")("QueueFull", {
  group: Schema.String,
  /** Waiting jobs of the group. */
  waiting: Schema.Int,
  /** Maximum number of waiting jobs. */
  max: Schema.Int
}) {
  override get message(): string {
    return `The queue of ${this.group} is full: ${this.waiting} of at most ${this.max} jobs are waiting`
  }
}

/** Another job of the group holds the unique key. `job` is its id. */
export class DuplicateJob extends Schema.TaggedError<DuplicateJob>("@kinora/scheduler/DuplicateJob")("DuplicateJob", {
  group: Schema.String,
  key: Schema.String,
  job: Schema.String
}) {
  override get message(): string {
    return `The job ${this.job} of ${this.group} has the unique key ${this.key}`
  }
}

/** The id of a new job is empty, has more than `max` characters, or has characters that cannot be stored: NUL or lone surrogates. */
export class InvalidJobId extends Schema.TaggedError<InvalidJobId>("@kinora/scheduler/InvalidJobId")("InvalidJobId", {
  job: Schema.String,
  /** Maximum number of characters. */
  max: Schema.Int
}) {
  override get message(): string {
    const { length } = Array.from(this.job)
    const problem = length >= 1 && length <= this.max ? "characters that cannot be stored" : `${length} characters`
    return `The id of a job has 1 to ${this.max} characters, without NUL and lone surrogates, got one with ${problem}`
  }
}

/** The priority of a new job is not a whole number from 0 to `max`. */
export class InvalidPriority
  extends Schema.TaggedError<InvalidPriority>("@kinora/scheduler/InvalidPriority")("InvalidPriority", {
    job: Schema.String,
    priority: Schema.Number,
    /** Highest priority. */
    max: Schema.Int
  })
{
  override get message(): string {
    return `The priority of a job is a whole number from 0 to ${this.max}, got ${this.priority} for the job ${this.job}`
  }
}

/** The job does not exist, or has ended. */
export class NotFound extends Schema.TaggedError<NotFound>("@kinora/scheduler/NotFound")("NotFound", {
  job: Schema.String
}) {
  override get message(): string {
    return `The job ${this.job} does not exist`
  }
}

/** A worker has started the job, so it cannot be cancelled. */
export class AlreadyRunning extends Schema.TaggedError<AlreadyRunning>("@kinora/scheduler/AlreadyRunning")(
  "AlreadyRunning",
  { job: Schema.String }
) {
  override get message(): string {
    return `The job ${this.job} has already been started`
  }
}

/** The job has ended, was released, or is leased under a newer epoch. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>("@kinora/scheduler/LeaseLost")("LeaseLost", {
  job: Schema.String,
  epoch: Schema.Int
}) {
  override get message(): string {
    return `The lease of the job ${this.job} with epoch ${this.epoch} is lost`
  }
}

/**
 * The reasons of refusals. `match` and `matchOrElse` handle them by tag, and `cases` has the class of each, for tests:
 *
 *     new SchedulerError({ reason: new SchedulerErrorReason.cases.NotFound({ job }) })
 */
export const SchedulerErrorReason = Schema.Union([
  QueueFull,
  DuplicateJob,
  InvalidJobId,
  InvalidPriority,
  NotFound,
  AlreadyRunning,
  LeaseLost
]).pipe(Schema.toTaggedUnion("_tag"))
/** Reason of a `SchedulerError`. `Types.ExtractTag<SchedulerErrorReason, "QueueFull">` of Effect is one of them. */
export type SchedulerErrorReason = typeof SchedulerErrorReason.Type
