/** Arguments and results of the store. */
import type { DateTime, Duration, Option, Schema } from "effect"
import type { ClaimedJob, JobAddress, Lease } from "../Job.ts"
import type { GroupId, JobId, LaneId } from "./ids.ts"
import type { UniqueKey } from "./uniqueKeys.ts"

/** Rows to lock and read. Without duplicates. */
export interface StoreRequest {
  readonly groups: ReadonlyArray<GroupId>
  readonly lanes: ReadonlyArray<WantedLane>
  readonly jobs: ReadonlyArray<JobId>
  /** Unique keys whose holders to read. */
  readonly keys: ReadonlyArray<UniqueKey>
}

/** A lane of one of the groups. */
export interface WantedLane {
  readonly lane: LaneId
  readonly group: GroupId
  /**
   * Whether a missing lane is created with a cap of 0. Otherwise it is left out: a lane that is loaded for its jobs only is not
   * created, so that a late write of a worker does not store a lane that was forgotten.
   */
  readonly isCreated: boolean
}

/** Queued jobs that the changes to lanes affected. */
export interface Applied {
  /** Jobs that got a slot. */
  readonly promoted: ReadonlyArray<JobId>
  /** Number of stored jobs that stay queued and got another share. Claims skipped them meanwhile. */
  readonly restamped: number
  /** The kinds of the jobs of `promoted` and `restamped`, whose workers are woken. `undefined`: all workers are woken. */
  readonly kinds?: ReadonlyArray<string> | undefined
  /** The job of the slot, if there was one and its lease holds. */
  readonly handed: ClaimedJob | undefined
}

/** The lanes to save are not based on the stored ones. */
export class StaleLanes extends Error {
  override readonly name = "StaleLanes"
  constructor() {
    super("The lanes were changed after they were loaded, or were saved before: load them again before each save")
  }
}

/** A job that is enqueued, and the worker that gets it if it is queued. */
export interface JobSlot extends LeaseTerms {
  readonly job: JobId
}

/** Jobs that exchanged a slot. */
export interface Swapped {
  /** Pending jobs that got a slot, because a worker claims them. */
  readonly promoted: ReadonlyArray<JobAddress>
  /** Queued jobs that lost it, because no worker claims them. They are pending again. */
  readonly displaced: ReadonlyArray<JobAddress>
}

/** The worker that leases jobs, by its lease and its name. */
export interface LeaseTerms {
  readonly lease: string
  readonly worker: string
}

/** Selects the jobs to lease among those that get slots. */
export interface RefillTerms extends LeaseTerms {
  readonly kinds: ReadonlyArray<string>
  /** If more jobs of the kinds get slots, none is leased. */
  readonly limit: number
}

/** Result of ending jobs and leasing others. */
export interface Settled {
  /** Jobs that were not ended: end them in a unit. */
  readonly left: ReadonlyArray<JobId>
  /** Jobs that got a slot and are leased. */
  readonly claimed: ReadonlyArray<ClaimedJob>
  /** Whether jobs got a slot and are not leased, or queued jobs got other shares. */
  readonly hasQueued: boolean
  /** The kinds of these jobs, whose workers are woken. `undefined`: all workers are woken. */
  readonly kinds?: ReadonlyArray<string> | undefined
}

/** Selects the jobs to claim. */
export interface ClaimTerms extends LeaseTerms {
  readonly kinds: ReadonlyArray<string>
  /** Kinds of which only resumable jobs are selected. None of `kinds`. */
  readonly resumableKinds: ReadonlyArray<string>
  readonly limit: number
  /** Selects one job that has to run alone instead of the others. */
  readonly alone: boolean
  /** Groups whose jobs are left out. */
  readonly except: ReadonlyArray<GroupId>
}

/** Selects the jobs to rescue. */
export interface RescueTerms extends LeaseTerms {
  readonly kinds: ReadonlyArray<string>
  readonly limit: number
  /** Pause before the last attempt of a job, which runs alone. */
  readonly aloneDelay: Duration.Duration
  /** Jobs under the lease of the rescuer that it runs. The other ones are taken over too. `undefined`: none of this lease are. */
  readonly held?: ReadonlyArray<JobId> | undefined
}

/** A lease to take. */
export interface NewLease {
  /** Unique. */
  readonly lease: string
  readonly id: string
  readonly worker: string
  readonly kinds: ReadonlyArray<string>
  readonly slots: number
  readonly ttl: Duration.Duration
}

/** A lease to renew. */
export interface Renewal {
  readonly lease: string
  readonly kinds: ReadonlyArray<string>
  readonly ttl: Duration.Duration
}

/** A worker that asks whether it has to make room for a job that runs alone. */
export interface AloneQuestion {
  readonly id: string
  readonly kinds: ReadonlyArray<string>
  /** Kinds of which the worker claims only resumable jobs. Default: none. */
  readonly resumableKinds?: ReadonlyArray<string> | undefined
  /** Whether the worker runs no job. */
  readonly isIdle: boolean
}

/** A checkpoint to store. */
export interface Checkpoint extends Lease {
  readonly checkpoint: Schema.Json
  /** Whether the next worker may claim the job also if its pool has no room. */
  readonly resumable: boolean
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

/** A worker whose lease holds, and the kinds and pools that it claims. */
export interface Offer {
  /** Unique per start of a worker. */
  readonly id: string
  /** The name shown with the worker's jobs. */
  readonly worker: string
  /** Names of kinds and pools, without duplicates. */
  readonly kinds: ReadonlyArray<string>
  /** Maximum number of jobs that it runs at the same time. */
  readonly slots: number
  readonly until: DateTime.Utc
}

/** A worker whose lease holds, and how many jobs it runs. */
export interface WorkerStatus extends Offer {
  /** When it took its first lease. `None` for a worker of a build that does not record it. */
  readonly startedAt: Option.Option<DateTime.Utc>
  /** Jobs that are leased to it. */
  readonly running: number
  /** Whether it claims no more jobs, and ends after those that it runs. */
  readonly isDraining: boolean
}

/** Selects a page of workers, in the order of their ids. */
export interface WorkerSelection {
  /** Only workers with an id after this one. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A lane with jobs that have not ended. */
export interface LaneStatus {
  readonly lane: LaneId
  readonly group: GroupId
  readonly cap: number
  readonly weight: number
  readonly pending: number
  readonly queued: number
  readonly running: number
  /** Jobs that are not due yet. */
  readonly delayed: number
}

/** Selects a page of lanes, in the order of their ids. */
export interface LaneSelection {
  /** Only lanes of this group. */
  readonly group?: GroupId | undefined
  /** Only lanes with an id after this one. */
  readonly after?: LaneId | undefined
  readonly limit: number
}

/** The jobs of a kind without a pool, or of a pool, that have not ended, and the workers that claim them. */
export interface Queue {
  /** The name of the kind, with the pool if there is one. */
  readonly kind: string
  readonly pending: number
  readonly queued: number
  readonly running: number
  /** Jobs that are not due yet. */
  readonly delayed: number
  /** When the oldest of the queued jobs was enqueued. `None` if no job is queued. */
  readonly oldest: Option.Option<DateTime.Utc>
  /** How long ago that was, by the clock of the database. The clock of the host may differ. */
  readonly oldestWait: Option.Option<Duration.Duration>
  /** Workers whose offer includes the kind or pool. */
  readonly workers: number
  /** Jobs that these workers can run at the same time, together with those of other kinds. */
  readonly slots: number
}

/** Selects jobs of a group. */
export interface GroupJobs {
  readonly group: GroupId
  readonly limit: number
  /** Whether to return running jobs too. */
  readonly running: boolean
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
