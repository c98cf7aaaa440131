/** Handlers that return promises. */
import { type CallOptions, type Plain, type Runtime, toPlain } from "@kinora/persistence/promise"
import { Cause, Data, Effect, Schedule, Schema } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import * as JobHandler from "../../JobHandler.ts"
import * as JobKind from "../../JobKind.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { Retry } from "../retries.ts"
import { AttemptsExhausted, TimeLimitExceeded } from "../workerFailures.ts"
import { AttemptsExhaustedError, errorOf, TimeLimitExceededError } from "./errors.ts"

/** A job that a worker runs. The payload is JSON, and was not checked. */
export interface Job<Payload = Schema.Json> extends Plain<Omit<ClaimedJob, "payload" | "checkpoint">> {
  readonly payload: Payload
  /** The last stored checkpoint. `undefined` if there is none, or if it was JSON null. */
  readonly checkpoint: Schema.Json | undefined
}

/** The calls that belong to one run of a job. */
export interface JobContext {
  /**
   * Aborts when the time limit has passed, when the grace of a drain ends, and when the worker has lost the job. End
   * soon after: the job keeps its slot of the worker until the handler returns.
   */
  readonly signal: NonNullable<CallOptions["signal"]>
  /**
   * Stores JSON with the job for its next worker. Throws `LeaseLostError`. `resumable`: whether the work continues
   * elsewhere, so that the next worker only follows it.
   */
  readonly checkpoint: (
    checkpoint: Schema.Json,
    options?: CallOptions & { readonly resumable?: boolean | undefined }
  ) => Promise<void>
  /**
   * Ends the job, in the transaction of `tx` together with rows of the program. Throws `LeaseLostError` if another worker
   * has the job: in this case, roll back. Commit before the handler returns. Without this call, the job ends when the handler
   * returns.
   */
  readonly settle: (options?: CallOptions) => Promise<void>
}

/** Runs a job, and may return a promise. */
type Run = { run(job: Job, context: JobContext): unknown }["run"]

interface RetryOptions extends Omit<Retry<unknown>, "while"> {
  readonly on?: (new(...parameters: never) => Error) | ((reason: unknown) => boolean) | undefined
}

/** Handles the jobs of one kind. Parameters can have the type of the payload: `run(job: Job<{ scene: string }>)`. */
export interface Handler {
  /**
   * Does the work. If it rejects, the job has failed and ends, unless `retry` runs it again. If the process dies, another worker
   * runs the job again with its last checkpoint, until no attempt is left.
   */
  readonly run: Run
  /**
   * Records that a job has failed, with the reason: what `run` rejected with, `TimeLimitExceededError`, or
   * `AttemptsExhaustedError`. The job ends when it returns. If it rejects, it is called again. Default: logs the reason.
   */
  failed?(job: Job, reason: unknown, context: JobContext): unknown
  /**
   * Runs the job again after `run` has rejected: `attempts` runs in total, with pauses of `backoff` in between, by default 1 second
   * that doubles up to 1 hour. `on` restricts it to a class of errors, or to a predicate. The last failure ends the job,
   * after `failed`. Default: the first failure ends the job.
   */
  readonly retry?: RetryOptions | undefined
  /** Pools of the kind whose jobs the worker claims, besides the jobs without a pool. Default: none. */
  readonly pools?: ReadonlyArray<string> | undefined
}

/** Handlers by the kind of their jobs. A function is a handler with this `run`. */
export type Handlers = Readonly<Record<string, Handler | Run>>

/** A kind of jobs whose payload is any JSON. */
export const kindOf = (name: string, pool?: string): JobKind.JobKind<Schema.Json> => {
  const kind = JobKind.make({ name, payload: Schema.Json })
  return pool === undefined ? kind : JobKind.pool(kind, pool)
}

/**
 * Creates the handlers of a worker. `wake` makes it claim the jobs that got a slot when a handler ended its job in a
 * transaction of the program.
 */
export const handlersOf = (
  handlers: Handlers,
  { run }: Pick<Runtime<Scheduler>, "run">,
  wake: Effect.Effect<void>
): ReadonlyArray<JobHandler.JobHandler> => {
  const call = (job: ClaimedJob, body: (job: Job, context: JobContext) => unknown) =>
    Effect.suspend(() => {
      let isSettled = false
      const onSettle = () => {
        isSettled = true
      }
      const called = settled((signal) => body(jobOf(job), contextOf(run, job, signal, onSettle)))
      return Effect.ensuring(called, Effect.suspend(() => isSettled ? wake : Effect.void))
    })
  return Object.entries(handlers).map(([kind, handler]) => {
    const own: Handler = typeof handler === "function" ? { run: handler } : handler
    return JobHandler.make<Schema.Json, unknown, Rejected>({
      kind: kindOf(kind),
      pools: own.pools,
      retry: own.retry && {
        ...own.retry,
        while: ({ reason }: Rejected) => isRetried(reason, own.retry?.on)
      },
      run: (job) => call(job, (job, context) => own.run(job, context)),
      failed: (job, cause) => {
        const reason = reasonOf(Cause.squash(cause))
        if (own.failed === undefined) return Effect.logError("A job failed", reason)
        return call(job, (job, context) => own.failed?.(job, reason, context)).pipe(
          Effect.tapError(({ reason }) =>
            Effect.logError("Recording a failed job failed; it is attempted again", reason)
          ),
          Effect.retry(retries),
          Effect.orDie
        )
      }
    })
  })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const retries = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]).pipe(Schedule.jittered)

/** A function of the program rejected. */
class Rejected extends Data.TaggedError("Rejected")<{ readonly reason: unknown }> {}

/** Calls a function of the program. An interruption aborts its signal, and waits until it has ended. */
const settled = (call: (signal: JobContext["signal"]) => unknown): Effect.Effect<void, Rejected> =>
  Effect.suspend(() => {
    let called: Promise<unknown> = Promise.resolve()
    return Effect.tryPromise({
      try: (signal) => called = Promise.resolve(signal).then(call),
      catch: (reason) => new Rejected({ reason })
    }).pipe(
      Effect.onInterrupt(() => Effect.promise(() => Promise.allSettled([called]))),
      Effect.asVoid
    )
  })

const isRetried = (reason: unknown, on: RetryOptions["on"]): boolean => {
  if (on === undefined) return true
  return isErrorClass(on) ? reason instanceof on : on(reason)
}

const isErrorClass = (on: NonNullable<RetryOptions["on"]>): on is new(...parameters: never) => Error =>
  on === Error || on.prototype instanceof Error

const contextOf = (
  run: Runtime<Scheduler>["run"],
  job: ClaimedJob,
  signal: JobContext["signal"],
  onSettle: () => void
): JobContext => ({
  signal,
  checkpoint: (checkpoint, options = {}) => {
    const { epoch, job: id } = job
    const command = { job: id, epoch, checkpoint, resumable: options.resumable }
    return run(Scheduler.use((scheduler) => scheduler.checkpoint(command)), options, errorOf)
  },
  settle: async (options = {}) => {
    await run(Scheduler.use((scheduler) => scheduler.settle(job)), options, errorOf)
    onSettle()
  }
})

const jobOf = ({ checkpoint, payload, ...job }: ClaimedJob): Job => ({
  ...toPlain(job),
  payload,
  checkpoint: toPlain(checkpoint)
})

const reasonOf = (reason: unknown): unknown => {
  if (reason instanceof Rejected) return reason.reason
  if (reason instanceof TimeLimitExceeded) return new TimeLimitExceededError(reason)
  if (reason instanceof AttemptsExhausted) return new AttemptsExhaustedError(reason)
  return reason
}
