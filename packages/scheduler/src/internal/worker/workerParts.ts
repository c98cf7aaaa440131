/** The parts of a worker that its loops share. */
import type { Effect, Semaphore } from "effect"
import type { ClaimedJob } from "../../Job.ts"
import type { WorkerFailure } from "../../JobHandler.ts"
import type { AloneRuns } from "./aloneRuns.ts"
import type { Idle } from "./idle.ts"
import type { RunningJobs } from "./runningJobs.ts"
import type { WorkerLease } from "./workerLease.ts"

/** Starts a job, or fails it with the given reason. Returns when its fiber has started. */
export type StartJob = (job: ClaimedJob, failure?: WorkerFailure) => Effect.Effect<void>

/** The parts of a worker that its loops share. */
export interface WorkerParts {
  readonly running: RunningJobs
  readonly lease: WorkerLease
  readonly alone: AloneRuns
  readonly start: StartJob
  /** Whether it takes jobs that are handed over. */
  readonly idle: Idle
  /** Held by one call that leases jobs at a time, until the jobs have started or have reserved slots. */
  readonly leasing: Semaphore.Semaphore
}
