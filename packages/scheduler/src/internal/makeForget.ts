/** Forgets groups: ends their jobs, and deletes their lanes. */
import * as Decision from "@kinora/persistence/Decision"
import * as Deletion from "@kinora/persistence/Deletion"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import * as Lanes from "../Lanes.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import type { JobId } from "./ids.ts"
import * as Loaded from "./loadedLanes.ts"
import type { makeLoad, makeSave } from "./makeLoad.ts"
import type { ForgetCommand } from "./requests.ts"

/** The result of forgetting a group. */
export interface Forgotten {
  /** The jobs that were ended. */
  readonly jobs: number
  /** The jobs that are left, counted up to `limit`: those that run, and those that were enqueued meanwhile. */
  readonly left: number
}

/** Creates `Scheduler.forget`. */
export const makeForget = Effect.fnUntraced(function*(
  load: Effect.Success<ReturnType<typeof makeLoad>>,
  save: Effect.Success<typeof makeSave>
) {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore

  /** Ends jobs of one set. Returns how many were found, and how many of them have not started to run meanwhile. */
  const endSet = Effect.fnUntraced(function*(group: string, abort: boolean, limit: number) {
    // A job never changes its lane, so its address is read before the lane is locked.
    const jobs = yield* store.jobsOf({ group, limit, running: abort })
    if (jobs.length === 0) return { found: 0, ended: 0 }
    const lanes = yield* load({ jobs })
    const { results, state } = Decision.all(lanes, jobs, (lanes, { job }) => end(lanes, job, abort))
    yield* save(state)
    return { found: jobs.length, ended: results.filter(Result.isSuccess).length }
  }, atomically)

  return Effect.fn("Scheduler.forget")(function*({ abort = false, group, limit = 1_000 }: ForgetCommand) {
    let jobs = 0
    const endJobs = (limit: number) =>
      Effect.map(endSet(group, abort, limit), ({ ended, found }) => {
        jobs += ended
        return found
      })
    yield* Deletion.inSets({ name: "Scheduler.forget", limit, run: endJobs })
    // Before the lanes, since a lane stays whose job ends after they were deleted.
    const left = yield* store.jobsOf({ group, limit, running: true })
    const deleteLanes = (limit: number) => atomically(store.forgetLanes(group, limit))
    yield* Deletion.inSets({ name: "Scheduler.forget", limit, run: deleteLanes })
    const forgotten: Forgotten = { jobs, left: left.length }
    return forgotten
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const end = (lanes: Lanes.Lanes, job: JobId, abort: boolean): Decision.Decision<Lanes.Lanes, unknown, unknown> =>
  !abort && Loaded.jobOf(lanes, job)?.state === "running" ? Result.fail("Running") : Lanes.abort(lanes, job)
