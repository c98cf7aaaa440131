/**
 * The port to where jobs and lanes are kept. Implementers load and apply; what is
 * allowed is decided in `Lanes`. Times are parameters, so that the caller's clock rules.
 */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect, type Schema } from "effect"
import type { LanesChanges, LanesState } from "./internal/loadedLanes.ts"
import type { ClaimedJob, GroupId, JobAddress, JobId, JobStatus, LaneId, Lease } from "./Job.ts"

/** What to load for a set of commands. No duplicates. */
export interface LoadRequest {
  readonly groups: ReadonlyArray<GroupId>
  /** Lanes of these groups; one that is missing is created without slots. */
  readonly lanes: ReadonlyArray<{ readonly lane: LaneId; readonly group: GroupId }>
  readonly jobs: ReadonlyArray<JobId>
}

/** Whom jobs are leased to, and until when. */
export interface LeaseTerms {
  readonly worker: string
  readonly now: DateTime.Utc
  readonly until: DateTime.Utc
}

/** Which jobs to claim. */
export interface ClaimTerms extends LeaseTerms {
  readonly kinds: ReadonlyArray<string>
  readonly limit: number
}

/** What to keep with a job for whoever takes it over. */
export interface Checkpoint extends Lease {
  readonly checkpoint: Schema.Json
}

/** What a rescue found. */
export interface Rescued {
  /** Queued again, before all that were queued after them. */
  readonly requeued: ReadonlyArray<JobAddress>
  /** Out of attempts, and leased to the caller so that it can fail them. */
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

/** Keeps the jobs and the lanes. Each method but `load`, `recount` and `apply` is one atomic step. */
export class SchedulerStore extends Context.Service<SchedulerStore, {
  /** Locks groups, then lanes, then jobs, each in the order of ids, until the unit ends. A lane found in another group is a defect. */
  readonly load: (request: LoadRequest) => Effect.Effect<LanesState, StorageError>
  /**
   * Applies changes to the lanes that the unit loaded, and returns the promoted jobs. Dies
   * with `StaleLanes` if the stored counters or the jobs to end differ from the loaded
   * ones, and if fewer jobs are pending than are to be promoted.
   */
  readonly apply: (changes: LanesChanges, now: DateTime.Utc) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
  /** Leases queued jobs, oldest slot first, passing over those that another claim is taking. Locks no lane. */
  readonly claim: (terms: ClaimTerms) => Effect.Effect<ReadonlyArray<ClaimedJob>, StorageError>
  /** Extends leases. Answers the jobs whose lease still holds. */
  readonly heartbeat: (
    leases: ReadonlyArray<Lease>,
    until: DateTime.Utc
  ) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
  /** Keeps checkpoints. Answers the jobs whose lease still holds. At most one per job. */
  readonly checkpoint: (
    checkpoints: ReadonlyArray<Checkpoint>
  ) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
  /** Queues jobs again in their place and takes the attempt back. Answers those whose lease still held. */
  readonly release: (leases: ReadonlyArray<Lease>) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
  /** Takes leases that ran out by `now`, longest first, passing over those that are being changed. */
  readonly rescue: (terms: ClaimTerms) => Effect.Effect<Rescued, StorageError>
  /** Has the leases of first attempts that still hold at `now` run out then. Answers how many. */
  readonly expireFirstLeases: (now: DateTime.Utc) => Effect.Effect<number, StorageError>
  /** Jobs that have not started and were enqueued before `before`, oldest first, without those named. */
  readonly waitingSince: (
    before: DateTime.Utc,
    limit: number,
    except: ReadonlyArray<JobId>
  ) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
  /** The jobs of these ids that have not ended, in no order. */
  readonly find: (jobs: ReadonlyArray<JobId>) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
  /** Counters that disagree with the jobs, as of one moment. */
  readonly verify: (limit: number) => Effect.Effect<ReadonlyArray<Drift>, StorageError>
  /** The ids of groups after `after`, in order. */
  readonly groupsAfter: (after: GroupId, limit: number) => Effect.Effect<ReadonlyArray<GroupId>, StorageError>
  /** Locks these groups and all their lanes like `load`, and returns their counters together with the counted jobs. */
  readonly recount: (groups: ReadonlyArray<GroupId>) => Effect.Effect<LanesState, StorageError>
}>()("@kinora/scheduler/SchedulerStore") {}
