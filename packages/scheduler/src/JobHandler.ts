/**
 * What an application does with the jobs of one kind, and what a crash leaves.
 *
 * A job goes through `claimed`, `run`, perhaps `failed`, and `settle`:
 *
 * - crash before or in `run`: the lease runs out, and another worker runs the job
 *   again with the last checkpoint, until its attempts are used up;
 * - crash between `run` and the commit of `settle`: the same, so `run` may happen
 *   again although it succeeded, and must go on from its checkpoint;
 * - crash after the commit of `settle`: nothing; the job is gone.
 *
 * Two workers may run one job at the same time for a moment, when one was given up for
 * lost too early. Only one of them settles: `settle` asks for the lease.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { type Cause, DateTime, Duration, Effect, Exit, Option, Schema } from "effect"
import type { ClaimedJob } from "./Job.ts"
import type { JobKind } from "./JobKind.ts"

/** What an application does with the jobs of one kind. */
export interface JobHandlerOptions<Payload, Outcome, E> {
  readonly kind: JobKind<Payload>

  /**
   * Writes rows of the application's own that say that the jobs have started, in the
   * unit that claims them: a failure undoes the claim. Opens no lanes.
   */
  readonly claimed?: ((jobs: ReadonlyArray<ClaimedJob>) => Effect.Effect<void, StorageError>) | undefined

  /**
   * Does the work, outside of any unit. It is interrupted when its lease is lost, and
   * when a drain runs out of grace; `Scheduler.checkpoint` keeps what it has reached.
   */
  readonly run: (job: ClaimedJob<Payload>) => Effect.Effect<Outcome, E>

  /**
   * Makes an outcome of what ended `run`: its failure, a defect, `TimeLimitExceeded`;
   * or of `AttemptsExhausted`, when the last attempt was lost with its worker. The payload
   * is as it was stored, since not being able to read it is one of the defects.
   */
  readonly failed: (job: ClaimedJob, cause: Cause.Cause<E | JobFailure>) => Effect.Effect<Outcome>

  /**
   * Ends jobs together with the application's rows, inside a unit of the worker's. It
   * opens the lanes of the jobs by itself, because accounts are locked before lanes,
   * and writes only for jobs whose `OpenLanes.settle` was accepted: a refused lease
   * means that somebody else has the job, or that it is settled. It may be called again
   * for the same jobs after a storage failure. Default: it only ends the jobs.
   */
  readonly settle?:
    | ((settlements: ReadonlyArray<Settlement<Outcome>>) => Effect.Effect<void, StorageError>)
    | undefined
}

/** A job that has run, and what came of it. */
export interface Settlement<Outcome> {
  readonly job: ClaimedJob
  readonly outcome: Outcome
}

/** The job ran past the time limit that it was enqueued with. */
export class TimeLimitExceeded
  extends Schema.TaggedError<TimeLimitExceeded>("@kinora/scheduler/TimeLimitExceeded")("TimeLimitExceeded", {
    job: Schema.String
  })
{
  override get message(): string {
    return `The job ${this.job} ran past its time limit`
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
    return `The job ${this.job} was lost with its worker in the last of ${this.attempts} attempts`
  }
}

/** Why a job ends without, or against, its `run`. */
export type JobFailure = TimeLimitExceeded | AttemptsExhausted

/** A handler for a worker, whatever the types of its payload and outcome. Made by `make`. */
export interface JobHandler {
  readonly kind: string
  readonly claimed: ((jobs: ReadonlyArray<ClaimedJob>) => Effect.Effect<void, StorageError>) | undefined
  /** Binds the handler to a worker, by what the worker makes of `settle`. */
  readonly prepare: (fold: Fold) => RunJob
}

/** Makes a function that settles one job of one that settles many in a unit; of none, one that only ends jobs. */
export type Fold = <Outcome>(
  name: string,
  settle: ((settlements: ReadonlyArray<Settlement<Outcome>>) => Effect.Effect<void, StorageError>) | undefined
) => (settlement: Settlement<Outcome>) => Effect.Effect<void, StorageError>

/** Runs a job, or fails it for the reason given, and answers the effect that settles it. */
export type RunJob = (
  job: ClaimedJob,
  failure: JobFailure | undefined
) => Effect.Effect<Effect.Effect<void, StorageError>>

/** A handler of one kind of job. */
export const make = <Payload, Outcome, E>(options: JobHandlerOptions<Payload, Outcome, E>): JobHandler => ({
  kind: options.kind.name,
  claimed: options.claimed,
  prepare: (fold) => {
    const settle = fold(`JobHandler.settle ${options.kind.name}`, options.settle)
    const run = (job: ClaimedJob) =>
      Effect.suspend(() => options.run({ ...job, payload: options.kind.decode(job.payload) }))
    return Effect.fnUntraced(function*(job, failure) {
      const exit: Exit.Exit<Outcome, E | JobFailure> = failure === undefined
        ? yield* Effect.exit(limited(job, run(job)))
        : Exit.fail(failure)
      const outcome = Exit.isSuccess(exit) ? exit.value : yield* options.failed(job, exit.cause)
      return settle({ job, outcome })
    })
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Interrupts the run at its time limit, which may already be over when another worker began the job. */
const limited = Effect.fnUntraced(function*<A, E>(job: ClaimedJob, run: Effect.Effect<A, E>) {
  if (Option.isNone(job.timeLimit)) return yield* run
  const end = DateTime.addDuration(job.startedAt, job.timeLimit.value)
  const left = DateTime.distance(yield* DateTime.now, end)
  const exceeded = Effect.fail(new TimeLimitExceeded({ job: job.job }))
  return yield* (Duration.isPositive(left)
    ? Effect.timeoutOrElse(run, { duration: left, orElse: () => exceeded })
    : exceeded)
})
