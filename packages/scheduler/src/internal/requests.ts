/** Arguments of the scheduler's operations. */
import type { Duration } from "effect"
import type { JobAddress } from "../Job.ts"
import type { GroupId, LaneId } from "./ids.ts"

/** Lanes and jobs to load. */
export interface LoadRequest {
  readonly lanes?: ReadonlyArray<{ readonly lane: LaneId; readonly group: GroupId }> | undefined
  /** Jobs to cancel or settle. Their lanes are loaded too. Jobs that do not exist are ignored. */
  readonly jobs?: ReadonlyArray<JobAddress> | undefined
}

/** Selects the jobs to claim or rescue. */
export interface ClaimOptions {
  /** Name of the worker, shown with its jobs. */
  readonly worker: string
  readonly kinds: ReadonlyArray<string>
  /** Maximum number of jobs. */
  readonly limit: number
  /** Time until the lease expires unless it is renewed. */
  readonly lease: Duration.Input
}
