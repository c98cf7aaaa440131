/** Interrupts jobs that others have ended or requeued while this worker runs them. */
import { Effect } from "effect"
import type { ClaimedJob, JobStatus } from "../../Job.ts"
import { Scheduler } from "../../Scheduler.ts"
import type { RunningJobs } from "./runningJobs.ts"
import { logFailure, type Settings } from "./settings.ts"

/** Creates the loop, which looks for such jobs at every heartbeat. */
export const makeLostJobs = Effect.fnUntraced(function*(
  { heartbeatInterval }: Settings,
  running: RunningJobs
) {
  const scheduler = yield* Scheduler

  const look = Effect.gen(function*() {
    const held = running.jobs().filter(running.isWorking)
    if (held.length === 0) return
    const found = yield* scheduler.find(held.map(({ job }) => job))
    // A job that is settling by now may have been ended by this worker.
    const lost = held.filter((job) => !isHeld(job, found) && running.isWorking(job))
    if (lost.length === 0) return
    for (const job of lost) running.interrupt(job)
    yield* Effect.logWarning("Jobs of the worker were ended or requeued by others; they are interrupted", {
      jobs: lost.map(({ job }) => job)
    })
  }).pipe(logFailure("Looking for jobs that others have ended failed", undefined))

  return Effect.andThen(Effect.sleep(heartbeatInterval), look).pipe(Effect.forever)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isHeld = ({ epoch, job }: ClaimedJob, found: ReadonlyArray<JobStatus>): boolean =>
  found.some((status) => status.job === job && status.epoch === epoch && status.state === "running")
