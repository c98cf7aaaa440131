/** The refusals of the scheduler as errors of JavaScript. */
import { errorsByTag, errorsOf, ownMessage } from "@kinora/persistence/PromiseApi"
import type { SchedulerErrorReason } from "../../SchedulerError.ts"
import type * as Refusal from "../reasons.ts"
import type * as Failure from "../workerFailures.ts"

/** The scheduler refused a call, and nothing was changed, or it failed a job. */
export abstract class SchedulerError extends Error {
  /** Names the refusal, for programs. */
  abstract readonly code: string
}

const define = errorsOf(SchedulerError)

/** The group has the maximum number of waiting jobs. Fields: `group`, `waiting`, `max`. */
export class QueueFullError extends define("queue_full", ownMessage<Refusal.QueueFull>) {}

/** Another job of the group holds the unique key. Fields: `group`, `key`, and `job`, the id of the other one. */
export class DuplicateJobError extends define("duplicate_job", ownMessage<Refusal.DuplicateJob>) {}

/** The id of a new job is empty or too long, or has characters that cannot be stored. Fields: `job`, `max`. */
export class InvalidJobIdError extends define("invalid_job_id", ownMessage<Refusal.InvalidJobId>) {}

/** The priority of a new job is not a whole number from 0 to `max`. Fields: `job`, `priority`, `max`. */
export class InvalidPriorityError extends define("invalid_priority", ownMessage<Refusal.InvalidPriority>) {}

/** The job does not exist, or has ended. Field: `job`. */
export class JobNotFoundError extends define("job_not_found", ownMessage<Refusal.NotFound>) {}

/** A worker has started the job, so it cannot be cancelled. Field: `job`. */
export class AlreadyRunningError extends define("already_running", ownMessage<Refusal.AlreadyRunning>) {}

/** The job has ended, was released, or is leased to another worker. Fields: `job`, `epoch`. */
export class LeaseLostError extends define("lease_lost", ownMessage<Refusal.LeaseLost>) {}

/** The job ran longer than its time limit. `failed` of a handler gets it. Field: `job`. */
export class TimeLimitExceededError extends define("time_limit_exceeded", ownMessage<Failure.TimeLimitExceeded>) {}

/** The worker of the last attempt was lost. `failed` of a handler gets it. Fields: `job`, `attempts`. */
export class AttemptsExhaustedError extends define("attempts_exhausted", ownMessage<Failure.AttemptsExhausted>) {}

/** Returns the error that a call throws for a refusal. */
export const errorOf = errorsByTag<SchedulerErrorReason, SchedulerError>({
  QueueFull: QueueFullError,
  DuplicateJob: DuplicateJobError,
  InvalidJobId: InvalidJobIdError,
  InvalidPriority: InvalidPriorityError,
  NotFound: JobNotFoundError,
  AlreadyRunning: AlreadyRunningError,
  LeaseLost: LeaseLostError
})
