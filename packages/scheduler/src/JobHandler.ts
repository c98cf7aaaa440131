/**
 * Handles the jobs of one kind.
 *
 * A worker calls `claimed`, `run`, `failed` if the run did not succeed, and `settle`. What
 * happens after a crash:
 *
 * - Before or in `run`: the lease expires, and another worker runs the job again with the
 *   last checkpoint, until no attempt is left.
 * - Between `run` and the commit of `settle`: the same. `run` may happen again although it
 *   succeeded, so it must continue from its checkpoint.
 * - After the commit of `settle`: nothing, since the job has ended.
 *
 * A worker that cannot renew its lease interrupts its runs when the lease ends, so two workers
 * run one job at the same time only while such a run cleans up. Only one of them settles the
 * job, since `settle` checks the epoch.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { type Cause, DateTime, Duration, Effect, Exit, Option, Schema } from "effect"
import type { LeftAttempt, LeftReason } from "./internal/leftAttempt.ts"
import { pauseOf, type Retry } from "./internal/retries.ts"
import { AttemptsExhausted, TimeLimitExceeded } from "./internal/workerFailures.ts"
import type { ClaimedJob } from "./Job.ts"
import * as JobKind from "./JobKind.ts"

/** Options for `make`. */
interface JobHandlerOptions<Payload, Outcome, E> {
  readonly kind: JobKind.JobKind<Payload>

  /** Pools of the kind whose jobs the worker claims, besides the jobs without a pool. Default: none. */
  readonly pools?: ReadonlyArray<string> | undefined

  /**
   * Limits on how many jobs of some pools the worker claims, besides its own concurrency, for example because the jobs of these
   * pools use the same device. Default: none.
   */
  readonly limits?:
    | ReadonlyArray<{
      readonly pools: ReadonlyArray<string>
      /**
       * Returns how many more jobs of these pools the worker may claim now; `Infinity` if there is no
       * limit. Read before each claim. Jobs that are not claimed stay in the queue, and take no slot of the worker.
       * Jobs whose checkpoint is `resumable` are claimed also without room, into slots of the worker.
       */
      readonly room: Effect.Effect<number>
    }>
    | undefined

  /**
   * Returns whether the worker claims jobs of the kind now. Read before each claim, and at
   * least every `pollInterval`. Default: always.
   */
  readonly isOpen?: Effect.Effect<boolean> | undefined

  /**
   * Returns the pools whose jobs the worker does not claim now. Read before each claim. Jobs whose
   * checkpoint is `resumable` are claimed, since they continue elsewhere. Default: none.
   */
  readonly paused?: Effect.Effect<ReadonlyArray<string>> | undefined

  /**
   * Writes rows of the application that record the start of these jobs by the worker of this name, in the
   * unit of work that claims them. If it fails, the claim is undone. Must not load lanes.
   */
  readonly claimed?:
    | ((jobs: ReadonlyArray<ClaimedJob>, worker: string) => Effect.Effect<void, StorageError>)
    | undefined

  /**
   * Writes rows of the application that record that attempts have ended without an outcome, in the
   * unit of work that takes the jobs from their worker: because the worker was lost, or because it
   * returned them to the queue when it drained. Jobs of other kinds are among them. If it fails, the
   * jobs stay with their worker. Must not load lanes.
   */
  readonly left?:
    | ((attempts: ReadonlyArray<LeftAttempt>, reason: LeftReason) => Effect.Effect<void, StorageError>)
    | undefined

  /**
   * Does the work, outside of any unit of work. The worker interrupts it when the lease is
   * lost and when the grace of a drain ends. Store progress with `Scheduler.checkpoint`.
   */
  readonly run: (job: ClaimedJob<Payload>) => Effect.Effect<Outcome, E>

  /** Runs the job again after a failure of `run`. Default: the job ends, after `failed`. */
  readonly retry?: Retry<NoInfer<E>> | undefined

  /**
   * Returns the outcome of a job that did not succeed. The cause is the failure or defect
   * of `run`, `TimeLimitExceeded`, or `AttemptsExhausted`. The payload is the stored JSON,
   * since a payload that does not decode is one of the defects.
   */
  readonly failed: (
    job: ClaimedJob,
    cause: Cause.Cause<E | WorkerFailure>
  ) => Effect.Effect<Outcome>

  /**
   * Ends jobs together with rows of the application, inside a unit of work that the worker
   * opens. It loads and saves the lanes of the jobs itself, because accounts are locked
   * before lanes. Write only for jobs that `Lanes.settle` accepts: if it refuses a lease,
   * another worker has the job or has settled it. May be called again for the same jobs
   * after a storage failure. Default: ends the jobs.
   */
  readonly settle?:
    | ((settlements: ReadonlyArray<Settlement<Outcome>>) => Effect.Effect<void, StorageError>)
    | undefined
}

/** A job that has run, and its outcome. */
export interface Settlement<Outcome> {
  readonly job: ClaimedJob
  readonly outcome: Outcome
}

/**
 * Failures that a worker passes to `failed`, besides those of `run`: the job exceeded its time limit, or the worker of its last
 * attempt was lost. `match` handles them by tag, and `cases` has the class of each, for tests of `failed`.
 */
export const WorkerFailure = Schema.Union([TimeLimitExceeded, AttemptsExhausted]).pipe(Schema.toTaggedUnion("_tag"))
/** Failure of a job that is not one of `run`. */
export type WorkerFailure = typeof WorkerFailure.Type

/** A handler for a worker, independent of the types of its payload and outcome. */
export interface JobHandler {
  /** The name of the kind, without a pool. The handler can fail and settle the jobs of all pools. */
  readonly kind: string
  /** The kinds whose jobs it can run: the kind without a pool, and its pools. */
  readonly claims: ReadonlyArray<string>
  /** The limits on claims, with the names of kinds instead of pools. */
  readonly limits: ReadonlyArray<{ readonly kinds: ReadonlyArray<string>; readonly room: Effect.Effect<number> }>
  /** Whether it claims jobs now. */
  readonly isOpen: Effect.Effect<boolean>
  /** The kinds of which it claims only resumable jobs now. */
  readonly paused: Effect.Effect<ReadonlyArray<string>>
  readonly claimed: ((jobs: ReadonlyArray<ClaimedJob>, worker: string) => Effect.Effect<void, StorageError>) | undefined
  readonly left:
    | ((attempts: ReadonlyArray<LeftAttempt>, reason: LeftReason) => Effect.Effect<void, StorageError>)
    | undefined
  /**
   * Binds the handler to a worker. `fold` turns a function that settles a set of jobs into
   * one that settles a single job; without a function it ends the job. `retry`, if it is given, delays a job whose
   * run has failed. The result runs a job, or fails it with the given reason, and returns the
   * effect that settles or delays it.
   */
  readonly prepare: (
    fold: <Outcome>(
      name: string,
      settle: ((settlements: ReadonlyArray<Settlement<Outcome>>) => Effect.Effect<void, StorageError>) | undefined
    ) => (settlement: Settlement<Outcome>) => Effect.Effect<void, StorageError>,
    retry?: (job: ClaimedJob, delay: Duration.Duration) => Effect.Effect<void, StorageError>
  ) => (
    job: ClaimedJob,
    failure: WorkerFailure | undefined
  ) => Effect.Effect<Effect.Effect<void, StorageError>>
}

/** Creates a handler for the jobs of one kind. */
export const make = <Payload, Outcome, E>(options: JobHandlerOptions<Payload, Outcome, E>): JobHandler => ({
  kind: options.kind.name,
  claims: [options.kind.name, ...kindsOf(options.kind, options.pools ?? [])],
  limits: (options.limits ?? []).map(({ pools, room }) => ({ kinds: kindsOf(options.kind, pools), room })),
  isOpen: options.isOpen ?? Effect.succeed(true),
  paused: Effect.map(options.paused ?? Effect.succeed([]), (pools) => kindsOf(options.kind, pools)),
  claimed: options.claimed,
  left: options.left,
  prepare: (fold, retry) => {
    const settle = fold(`JobHandler.settle ${options.kind.name}`, options.settle)
    const run = (job: ClaimedJob) =>
      Effect.suspend(() => options.run({ ...job, payload: options.kind.decode(job.payload) }))
    return Effect.fnUntraced(function*(job, failure) {
      const exit: Exit.Exit<Outcome, E | WorkerFailure> = failure === undefined
        ? yield* Effect.exit(limited(job, run(job)))
        : Exit.fail(failure)
      const end = Exit.isSuccess(exit) ? Effect.succeed(exit.value) : options.failed(job, exit.cause)
      const pause = yield* pauseOf(options.retry, job, exit)
      if (pause === undefined || retry === undefined) return settle({ job, outcome: yield* end })
      // A job that stayed running would hold its slot as long as its worker lives.
      return Effect.catchIf(
        retry(job, pause),
        (error) => !error.isRetryable,
        (error) =>
          Effect.logError("A failed job cannot be delayed, and ends", error).pipe(
            Effect.andThen(end),
            Effect.flatMap((outcome) => settle({ job, outcome }))
          )
      )
    })
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const kindsOf = <Payload>(kind: JobKind.JobKind<Payload>, pools: ReadonlyArray<string>): ReadonlyArray<string> =>
  pools.map((name) => JobKind.pool(kind, name).name)

/** Interrupts the run at its time limit, which may have passed before this attempt started. */
const limited = <A, E>(job: ClaimedJob, run: Effect.Effect<A, E>): Effect.Effect<A, E | TimeLimitExceeded> => {
  if (Option.isNone(job.timeLimit)) return run
  const end = DateTime.addDuration(job.startedAt, job.timeLimit.value)
  const left = DateTime.distance(job.claimedAt, end)
  const exceeded = Effect.fail(new TimeLimitExceeded({ job: job.job }))
  return Duration.isPositive(left) ? Effect.timeoutOrElse(run, { duration: left, orElse: () => exceeded }) : exceeded
}
