/** What the scheduler refuses. In sets these are values; only calls for a single command fail with them. */
import { Schema } from "effect"

/** The group has as many waiting jobs as it may (D7). */
export class QueueFull extends Schema.TaggedError<QueueFull>("@kinora/scheduler/QueueFull")("QueueFull", {
  group: Schema.String,
  /** Jobs of the group that wait. */
  waiting: Schema.Int,
  /** How many may. */
  max: Schema.Int
}) {
  override get message(): string {
    return `The queue of ${this.group} is full: ${this.waiting} of ${this.max} jobs wait`
  }
}

/** The scheduler has no such job: it ended, or never was. */
export class NotFound extends Schema.TaggedError<NotFound>("@kinora/scheduler/NotFound")("NotFound", {
  job: Schema.String
}) {
  override get message(): string {
    return `There is no job ${this.job}`
  }
}

/** A worker has started the job, so it cannot be cancelled any more. */
export class AlreadyRunning extends Schema.TaggedError<AlreadyRunning>("@kinora/scheduler/AlreadyRunning")(
  "AlreadyRunning",
  { job: Schema.String }
) {
  override get message(): string {
    return `The job ${this.job} is already running`
  }
}

/** The job ended, was given back, or is held under a newer epoch. Nothing may be written in its name. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>("@kinora/scheduler/LeaseLost")("LeaseLost", {
  job: Schema.String,
  epoch: Schema.Int
}) {
  override get message(): string {
    return `The lease of the job ${this.job} under epoch ${this.epoch} is lost`
  }
}

/** Everything that the scheduler refuses. */
export class SchedulerError extends Schema.TaggedError<SchedulerError>("@kinora/scheduler/SchedulerError")(
  "SchedulerError",
  { reason: Schema.Union([QueueFull, NotFound, AlreadyRunning, LeaseLost]) }
) {
  override get message(): string {
    return this.reason.message
  }
}
