/** The operations of the scheduler on delayed jobs. */
import * as StorageError from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Cause, Effect } from "effect"
import type { JobAddress } from "../Job.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import type { GroupId } from "./ids.ts"
import { noChanges } from "./laneChanges.ts"
import type { makeLoad, makeSave } from "./makeLoad.ts"
import { placeDue } from "./placeDue.ts"

/** Creates the operations. */
export const makeDelays = Effect.fnUntraced(function*(
  load: Effect.Success<ReturnType<typeof makeLoad>>,
  save: Effect.Success<typeof makeSave>
) {
  const { atomically, isOpen } = yield* UnitOfWork
  const store = yield* SchedulerStore

  /**
   * Decides on those of the jobs that are due still, since another worker may have placed them before the lanes were locked.
   * Returns the jobs whose lanes are locked by others. Waiting for them would hold up the jobs of all other lanes.
   */
  const place = Effect.fnUntraced(function*(jobs: ReadonlyArray<JobAddress>) {
    const free = new Set(yield* store.lockFree(Array.from(new Set(jobs.map(({ lane }) => lane)))))
    const placed = jobs.filter(({ lane }) => free.has(lane))
    if (placed.length === 0) return jobs
    const lanes = yield* load({ jobs: placed })
    const due = yield* store.findDue(placed.map(({ job }) => job))
    yield* save(due.reduce(placeDue, lanes))
    return jobs.filter(({ lane }) => !free.has(lane))
  }, atomically)

  /** Places each group by itself, and tries those later that fail again. */
  const placeApart = (jobs: ReadonlyArray<JobAddress>) =>
    Effect.forEach(
      Map.groupBy(jobs, ({ group }) => group),
      ([group, own]) =>
        unlessUnavailable(place(own), (cause) =>
          Effect.logError("Placing the delayed jobs of a group failed; they are tried again later", { group }, cause)
            .pipe(
              Effect.andThen(atomically(store.apply({
                ...noChanges,
                postponed: own.map(({ job }) => ({ job, millis: failedPause }))
              }))),
              Effect.as([])
            ))
    )

  const placeAll = (jobs: ReadonlyArray<JobAddress>) =>
    Effect.flatMap(isOpen, (open) =>
      open
        ? place(jobs)
        : unlessUnavailable(place(jobs), () => Effect.map(placeApart(jobs), (left) => left.flat())))

  const enqueueDue = Effect.fn("Scheduler.enqueueDue")(function*(limit: number) {
    const locked = new Set<GroupId>()
    let count = 0
    while (true) {
      // Outside of the unit, since there is none in most cases.
      const due = yield* store.due(limit - count, Array.from(locked))
      if (due.length === 0) return count
      const left = yield* placeAll(due)
      count += due.length - left.length
      if (left.length === 0) return count
      for (const { group } of left) locked.add(group)
    }
  })

  return { enqueueDue, dueIn: Effect.withSpan(store.dueIn, "Scheduler.dueIn") }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Milliseconds until the jobs of a group are tried again whose placing failed. */
const failedPause = 60_000

/** Recovers from failures that would happen again, and from bugs. */
const unlessUnavailable = <A, B>(
  effect: Effect.Effect<A, StorageError.StorageError>,
  otherwise: (cause: Cause.Cause<StorageError.StorageError>) => Effect.Effect<B, StorageError.StorageError>
): Effect.Effect<A | B, StorageError.StorageError> =>
  Effect.catchCause(
    effect,
    (cause) =>
      Cause.hasInterrupts(cause) || StorageError.findInCause("Scheduler.enqueueDue", cause)?.isRetryable === true
        ? Effect.failCause(cause)
        : otherwise(cause)
  )
