/** Retry policies of a run. */
import type { GeneratorError } from "@kinora/generator/GeneratorError"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { SchedulerError } from "@kinora/scheduler/SchedulerError"
import type { BlobError } from "@kinora/storage/BlobError"
import { Duration, Effect, Schedule } from "effect"
import type { OperationReused } from "./operationReused.ts"
import type { UpstreamUnavailable } from "./upstreamUnavailable.ts"

/** Errors of calls to the generator and the blob store, and of their limits. */
export type CallError = GeneratorError | BlobError | StorageError | UpstreamUnavailable

/** Errors of a run. A `SchedulerError` means that the worker lost its lease. */
export type RunError = CallError | OperationReused | SchedulerError

/** Retries an effect, at most `times` times, while it fails for a transient reason. */
export const retryTransient =
  (times: number) => <A, E extends CallError, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.retry(effect, { while: isTransient, times, schedule: backoff })

/** Retries an effect while it fails for a transient reason. The time limit of the job ends the retries. */
export const retryUntilInterrupted = <A, E extends CallError, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { while: isTransient, schedule: backoff })

/** Retries an effect, at most `times` times, while `isGone` returns `true` for its error. */
export const retryGone =
  (times: number, isGone: (error: RunError) => boolean) =>
  <A, E extends RunError, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.retry(effect, { while: isGone, times, schedule: backoff })

/**
 * Retries an effect while the database is unavailable. A job does not fail because of
 * that: its time limit or the loss of its lease ends the retries.
 */
export const retryStorage = <A, E extends StorageError | SchedulerError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.retry(effect, { while: (error) => error._tag === "StorageError" && error.isRetryable, schedule: backoff })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Exponential from 0.5 to 10 seconds, or longer if the generator asks for it. */
const backoff = Schedule.exponential("500 millis").pipe(
  Schedule.setInputType<RunError>(),
  Schedule.jittered,
  Schedule.modifyDelay(({ duration, input }) =>
    Effect.succeed(Duration.max(Duration.min(duration, Duration.seconds(10)), retryAfterOf(input)))
  )
)

const retryAfterOf = (error: RunError): Duration.Duration =>
  error._tag === "GeneratorError" && error.reason._tag === "Transient"
    ? error.reason.retryAfter ?? Duration.zero
    : Duration.zero

/** Returns `true` if the same call may succeed later. */
const isTransient = (error: CallError): boolean => {
  switch (error._tag) {
    case "GeneratorError":
      return error.isRetryable
    case "BlobError":
      return error.reason._tag === "Unavailable"
    // Callers retry it themselves.
    case "StorageError":
    case "UpstreamUnavailable":
      return false
  }
}
