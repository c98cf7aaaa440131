/** Arguments and results of the store. */
import type { DateTime, Schema } from "effect"
import type { ClaimedJob, JobAddress, Lease } from "../Job.ts"
import type { GroupId, JobId, LaneId } from "./ids.ts"

/** Rows to lock and read. Without duplicates. */
export interface StoreRequest {
  readonly groups: ReadonlyArray<GroupId>
  /** Lanes of these groups. A missing one is created with a cap of 0. */
  readonly lanes: ReadonlyArray<{ readonly lane: LaneId; readonly group: GroupId }>
  readonly jobs: ReadonlyArray<JobId>
}

/** The worker that leases jobs, and the expiry of the lease. */
export interface LeaseTerms {
  readonly worker: string
  readonly now: DateTime.Utc
  readonly until: DateTime.Utc
}

/** Selects the jobs to lease. */
export interface ClaimTerms extends LeaseTerms {
  readonly kinds: ReadonlyArray<string>
  readonly limit: number
}

/** A checkpoint to store. */
export interface Checkpoint extends Lease {
  readonly checkpoint: Schema.Json
}

/** Result of a rescue. */
export interface Rescued {
  /** Jobs that were queued again, before all that were queued after them. */
  readonly requeued: ReadonlyArray<JobAddress>
  /**
   * Jobs leased to the caller to fail them: those without attempts left, and those that
   * exceeded their time limit while they waited for their next worker.
   */
  readonly exhausted: ReadonlyArray<ClaimedJob>
}

/** A difference between the counters and the jobs. */
export interface Drift {
  readonly of: "lane" | "group"
  readonly id: string
  /** The wrong counter, or `heldMax` if more jobs hold a slot than may. */
  readonly counter: "held" | "heldMax" | "waiting"
  readonly stored: number
  /** Counted from the jobs. */
  readonly found: number
}
