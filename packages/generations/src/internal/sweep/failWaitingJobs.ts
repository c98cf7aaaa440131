/** Ends jobs that nobody waits for any more, as many as there are, whatever is wrong with some of them. */
import { findInCause } from "@kinora/persistence/StorageError"
import type { StorageError } from "@kinora/persistence/StorageError"
import { Cause, Effect, Option } from "effect"
import type { Failure, GenerationId } from "../../Generation.ts"
import type { Subject } from "../../GenerationStore.ts"
import { makeEndAll } from "../end/endAll.ts"

/** A job that may be dropped; without a subject where what is stored cannot be read. */
export interface Candidate {
  readonly id: GenerationId
  readonly subject: Option.Option<Subject>
}

/** Jobs that one sweep passes over: damaged ones, and those that others ended or started meanwhile. */
const passedMax = 1_000

/**
 * Builds a function that fails up to `limit` of the jobs that `find` finds, oldest
 * first, and answers how many. `find` is told how many, and which ones not. A job
 * that cannot be ended is logged and passed over; the next sweep tries it again.
 */
export const makeDropEach = Effect.gen(function*() {
  const endAll = yield* makeEndAll

  /** Those that ended. */
  const drop = (subjects: ReadonlyArray<Subject>, failure: Failure) =>
    Effect.map(
      endAll(subjects.map((subject) => ({ _tag: "Drop", subject, failure }))),
      (outcomes) => subjects.filter((_, index) => outcomes[index] === "Ended")
    )

  /** A set in one unit, or each by itself where that fails for what is stored. */
  const dropAll = (candidates: ReadonlyArray<Candidate>, failure: Failure) => {
    const subjects = candidates.flatMap(({ subject }) => Option.toArray(subject))
    return Effect.catchCause(
      drop(subjects, failure),
      (cause) =>
        isPassing(cause) ? Effect.failCause(cause) : Effect.map(
          Effect.forEach(subjects, (subject) =>
            Effect.catchCause(drop([subject], failure), (cause) =>
              isPassing(cause)
                ? Effect.failCause(cause)
                : Effect.as(Effect.logError("A job cannot be ended", subject, cause), []))),
          (dropped) => dropped.flat()
        )
    )
  }

  return Effect.fnUntraced(function*(
    limit: number,
    failure: Failure,
    find: (
      limit: number,
      except: ReadonlyArray<GenerationId>
    ) => Effect.Effect<ReadonlyArray<Candidate>, StorageError>
  ) {
    const passed: Array<GenerationId> = []
    let dropped = 0
    while (dropped < limit && passed.length < passedMax) {
      const asked = limit - dropped
      const found = yield* find(asked, passed)
      const unreadable = found.filter(({ subject }) => Option.isNone(subject))
      if (unreadable.length > 0) {
        yield* Effect.logError("Jobs cannot be ended, since what is stored cannot be read", unreadable)
      }
      const ended = found.length === 0 ? [] : yield* dropAll(found, failure)
      dropped += ended.length
      if (found.length < asked) break
      const endedIds = new Set(ended.map(({ id }) => id))
      passed.push(...found.map(({ id }) => id).filter((id) => !endedIds.has(id)))
    }
    return dropped
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Whether it says nothing of the jobs: the database is away, or the sweep has to stop. */
const isPassing = (cause: Cause.Cause<unknown>): boolean =>
  Cause.hasInterrupts(cause) || findInCause("GenerationSweep", cause)?.isRetryable === true
