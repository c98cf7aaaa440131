/** Arguments of the scheduler's operations. */
import type { Duration } from "effect"
import type { JobAddress, Lease } from "../Job.ts"

/** Lanes and jobs to load. */
export interface LoadRequest {
  readonly lanes?: ReadonlyArray<{ readonly lane: string; readonly group: string }> | undefined
  /** Jobs to cancel or settle. Their lanes are loaded too. Jobs that do not exist are ignored. */
  readonly jobs?: ReadonlyArray<JobAddress> | undefined
}

/** A lease to give back. */
export interface Release extends Lease {
  /** Moves the job to this pool of its kind. Default: the job stays in its pool. */
  readonly pool?: string | undefined
}

/** Selects the jobs to claim or rescue. */
export interface ClaimOptions {
  /** Name of the worker, shown with its jobs. */
  readonly worker: string
  /** Names of kinds. A claim does not include their pools, which have their own names; a rescue does. */
  readonly kinds: ReadonlyArray<string>
  /** Maximum number of jobs. */
  readonly limit: number
  /** Time until the lease expires unless it is renewed. */
  readonly lease: Duration.Input
}
