/** Failures of jobs that the worker reports. */
import { Schema } from "effect"

/** The job ran longer than its time limit. */
export class TimeLimitExceeded
  extends Schema.TaggedError<TimeLimitExceeded>("@kinora/scheduler/TimeLimitExceeded")("TimeLimitExceeded", {
    job: Schema.String
  })
{
  override get message(): string {
    return `The job ${this.job} exceeded its time limit`
  }
}

/** The worker of the last attempt was lost. */
export class AttemptsExhausted
  extends Schema.TaggedError<AttemptsExhausted>("@kinora/scheduler/AttemptsExhausted")("AttemptsExhausted", {
    job: Schema.String,
    attempts: Schema.Int
  })
{
  override get message(): string {
    return `The worker of the job ${this.job} was lost in the last of ${this.attempts} attempts`
  }
}
