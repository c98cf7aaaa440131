/** Failing of jobs that will not be started: those that waited too long, and those of withdrawn models. */
import { findInCause } from "@kinora/persistence/StorageError"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Cause, Effect, Option, Result } from "effect"
import type { Failure, GenerationId } from "../../Generation.ts"
import type { Subject } from "../../GenerationStore.ts"
import { makeEndAll } from "../end/endAll.ts"

/** A waiting job. `subject` is `none` if the job's row cannot be decoded. */
interface Candidate {
  readonly id: GenerationId
  readonly subject: Option.Option<Subject>
}

/** Returns up to `limit` waiting jobs, oldest first, except the excluded ones. */
export type FindCandidates = (
  limit: number,
  except: ReadonlyArray<GenerationId>
) => Effect.Effect<ReadonlyArray<Candidate>, StorageError>

/** Jobs that one sweep skips: damaged ones, and those that ended or started in the meantime. */
const skippedMax = 1_000

/**
 * Makes a function that fails up to `limit` of the jobs that `find` returns and returns
 * how many it failed. A job that cannot be ended is logged and skipped until the next sweep.
 */
export const makeFailWaitingJobs = Effect.gen(function*() {
  const failAll = yield* makeFailAll

  return Effect.fnUntraced(function*(limit: number, failure: Failure, find: FindCandidates) {
    const skipped: Array<GenerationId> = []
    let failed = 0
    while (failed < limit && skipped.length < skippedMax) {
      const wanted = limit - failed
      const found = yield* find(wanted, skipped)
      const ended = new Set(yield* failAll(found, failure))
      failed += ended.size
      if (found.length < wanted) break
      skipped.push(...found.map(({ id }) => id).filter((id) => !ended.has(id)))
    }
    return failed
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes a function that fails jobs and returns the ids of those that it failed. */
const makeFailAll = Effect.gen(function*() {
  const endAll = yield* makeEndAll

  const failSet = Effect.fnUntraced(function*(subjects: ReadonlyArray<Subject>, failure: Failure) {
    const results = yield* endAll(subjects.map((subject) => ({ _tag: "Drop", subject, failure })))
    return subjects.filter((_, index) => Result.isSuccess(results[index]!)).map(({ id }) => id)
  })

  const failEach = (subjects: ReadonlyArray<Subject>, failure: Failure) =>
    Effect.map(
      Effect.forEach(subjects, (subject) =>
        Effect.catchCause(failSet([subject], failure), (cause) =>
          isTransient(cause)
            ? Effect.failCause(cause)
            : Effect.as(Effect.logError("A waiting job could not be ended", subject, cause), []))),
      (failed) => failed.flat()
    )

  /** Ends a set in one unit of work. If a damaged job fails the unit, ends each job in its own. */
  return Effect.fnUntraced(function*(candidates: ReadonlyArray<Candidate>, failure: Failure) {
    const unreadable = candidates.filter(({ subject }) => Option.isNone(subject))
    if (unreadable.length > 0) {
      yield* Effect.logError("Waiting jobs cannot be decoded, so they are not ended", unreadable)
    }
    const subjects = candidates.flatMap(({ subject }) => Option.toArray(subject))
    if (subjects.length === 0) return []
    return yield* Effect.catchCause(
      failSet(subjects, failure),
      (cause) => isTransient(cause) ? Effect.failCause(cause) : failEach(subjects, failure)
    )
  })
})

/** Returns `true` if the cause is not the jobs' fault: the database is unavailable, or the sweep is interrupted. */
const isTransient = (cause: Cause.Cause<unknown>): boolean =>
  Cause.hasInterrupts(cause) || findInCause("GenerationSweep", cause)?.isRetryable === true
