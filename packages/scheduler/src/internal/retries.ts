/** The rule by which a job runs again after a failed run. */
import { Cause, Duration, Effect, Exit, Option, Random, Schema } from "effect"
import type { ClaimedJob } from "../Job.ts"
import { delayMax } from "./delays.ts"
import { AttemptsExhausted, TimeLimitExceeded } from "./workerFailures.ts"

/**
 * When a job runs again after `run` has failed. The failed run frees its slot, and the job is delayed (`Lanes.retry`). It keeps
 * its checkpoint, and its attempts and its time limit begin anew. Defects, `TimeLimitExceeded` and `AttemptsExhausted` are
 * not retried.
 */
export interface Retry<E> {
  /** Number of runs that may fail. The failure of the last one ends the job, and is passed to `failed`. */
  readonly attempts: number
  /**
   * Pause after a number of failures, from 1, at most 36,500 days. Default: 1 second, twice as long after each failure, at
   * most 1 hour; each pause is up to a fifth shorter, so that jobs that fail together do not run together again.
   */
  readonly backoff?: Duration.Input | ((failures: number) => Duration.Input) | undefined
  /** Whether a failure is retried; the others end the job. Default: all. */
  readonly while?: ((error: E) => boolean) | undefined
}

/** Returns after which pause the job runs again, or `undefined` if it ends. Functions that throw end it. */
export const pauseOf = <E>(
  retry: Retry<E> | undefined,
  { failures, job }: ClaimedJob,
  exit: Exit.Exit<unknown, E | TimeLimitExceeded | AttemptsExhausted>
): Effect.Effect<Duration.Duration | undefined> => {
  if (retry === undefined || Exit.isSuccess(exit) || failures + 1 >= retry.attempts) return Effect.succeed(undefined)
  const { backoff, while: isRetried = () => true } = retry
  const error = exit.cause.reasons.every(Cause.isFailReason) ? Cause.findErrorOption(exit.cause) : Option.none()
  if (Option.isNone(error) || isEnd(error.value)) return Effect.succeed(undefined)
  const failure = error.value
  return Effect.suspend(() => {
    if (!isRetried(failure)) return Effect.succeed(undefined)
    if (backoff === undefined) return doubled(failures + 1)
    const pause = Duration.fromInputUnsafe(typeof backoff === "function" ? backoff(failures + 1) : backoff)
    return Effect.succeed(Duration.min(pause, delayMax))
  }).pipe(
    Effect.tap((pause) =>
      pause === undefined ? Effect.void : Effect.logDebug("A job failed and runs again later", { job, failure })
    ),
    Effect.catchCause((cause) => Effect.as(Effect.logError("Deciding about a retry failed", cause), undefined))
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isEnd = Schema.is(Schema.Union([TimeLimitExceeded, AttemptsExhausted]))

const doubled = (failures: number): Effect.Effect<Duration.Duration> => {
  const pause = Duration.min(Duration.seconds(2 ** Math.min(failures - 1, 20)), Duration.hours(1))
  return Effect.map(Random.nextBetween(0.8, 1), (spread) => Duration.times(pause, spread))
}
