/** The refusals of the scheduler as errors of JavaScript. */
import { defineError, errorsByTag } from "@kinora/persistence/promise"
import type * as Reason from "../../JobHandler.ts"
import type * as Refusal from "../../SchedulerError.ts"

/** The scheduler refused a call, and nothing was changed, or it failed a job. */
export abstract class SchedulerError extends Error {
  /** Names the refusal, for programs. */
  abstract readonly code: string
}

/** The group has the maximum number of waiting jobs. Fields: `group`, `waiting`, `max`. */
export class QueueFullError
  extends defineError(SchedulerError, "queue_full", ({ message }: Refusal.QueueFull) => message)
{}

/** The job does not exist, or has ended. Field: `job`. */
export class JobNotFoundError
  extends defineError(SchedulerError, "job_not_found", ({ message }: Refusal.NotFound) => message)
{}

/** A worker has started the job, so it cannot be cancelled. Field: `job`. */
export class AlreadyRunningError extends defineError(
  SchedulerError,
  "already_running",
  ({ message }: Refusal.AlreadyRunning) => message
) {}

/** The job has ended, was released, or is leased to another worker. Fields: `job`, `epoch`. */
export class LeaseLostError
  extends defineError(SchedulerError, "lease_lost", ({ message }: Refusal.LeaseLost) => message)
{}

/** The job ran longer than its time limit. `failed` of a handler gets it. Field: `job`. */
export class TimeLimitExceededError extends defineError(
  SchedulerError,
  "time_limit_exceeded",
  ({ message }: Reason.TimeLimitExceeded) => message
) {}

/** The worker of the last attempt was lost. `failed` of a handler gets it. Fields: `job`, `attempts`. */
export class AttemptsExhaustedError extends defineError(
  SchedulerError,
  "attempts_exhausted",
  ({ message }: Reason.AttemptsExhausted) => message
) {}

/** Returns the error that a call throws for a refusal. */
export const errorOf = errorsByTag<Refusal.SchedulerError["reason"], SchedulerError>({
  QueueFull: QueueFullError,
  NotFound: JobNotFoundError,
  AlreadyRunning: AlreadyRunningError,
  LeaseLost: LeaseLostError
})
