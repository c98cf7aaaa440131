/** The port to the storage of jobs and lanes. Rules are decided by `Lanes`; times are parameters. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Effect } from "effect"
import type { GroupId, JobId } from "./internal/ids.ts"
import type { LanesChanges, LanesState } from "./internal/loadedLanes.ts"
import type { Release } from "./internal/requests.ts"
import type { Checkpoint, ClaimTerms, Drift, Offer, Queue, Rescued, StoreRequest } from "./internal/storeTypes.ts"
import type { ClaimedJob, JobStatus, Lease } from "./Job.ts"

/** Stores jobs and lanes. Each method except `load`, `recount` and `apply` is one atomic step. */
export class SchedulerStore extends Context.Service<SchedulerStore, {
  /** Locks groups, then lanes, then jobs, each in id order, until the unit ends. Dies if a lane belongs to another group. */
  readonly load: (request: StoreRequest) => Effect.Effect<LanesState, StorageError>
  /**
   * Applies changes to the lanes that the unit loaded, and returns the promoted jobs. Dies
   * with `StaleLanes` if the stored counters or the jobs to end differ from the loaded
   * ones, and if fewer jobs are pending than are to be promoted.
   */
  readonly apply: (changes: LanesChanges, now: DateTime.Utc) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
  /** Leases queued jobs in the order in which they got their slots. Skips jobs that another claim has locked. */
  readonly claim: (terms: ClaimTerms) => Effect.Effect<ReadonlyArray<ClaimedJob>, StorageError>
  /** Renews leases. Returns the jobs whose lease holds. */
  readonly heartbeat: (
    leases: ReadonlyArray<Lease>,
    until: DateTime.Utc
  ) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
  /** Stores checkpoints, at most one per job. Returns the jobs whose lease holds. */
  readonly checkpoint: (
    checkpoints: ReadonlyArray<Checkpoint>
  ) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
  /** Queues jobs again in their positions without counting the attempt. At most one release per job. Returns those whose lease held. */
  readonly release: (leases: ReadonlyArray<Release>) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
  /**
   * Takes over jobs of all pools of the kinds: started jobs that wait and whose time limit
   * passed by `now`, then jobs whose lease expired by `now`, each the longest expired first.
   * Skips locked jobs.
   */
  readonly rescue: (terms: ClaimTerms) => Effect.Effect<Rescued, StorageError>
  /** Expires the leases of first attempts. Returns their number. */
  readonly expireFirstLeases: (now: DateTime.Utc) => Effect.Effect<number, StorageError>
  /** Returns jobs that have not started and were enqueued before `before`, oldest first, except the given ones. */
  readonly waitingSince: (
    before: DateTime.Utc,
    limit: number,
    except: ReadonlyArray<JobId>
  ) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
  /** Returns the jobs with these ids that have not ended, in no order. */
  readonly find: (jobs: ReadonlyArray<JobId>) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
  /** Records or renews the offer of a worker, and deletes offers that expired long ago. */
  readonly announce: (offer: Offer, now: DateTime.Utc) => Effect.Effect<void, StorageError>
  /** Deletes the offer of a worker. */
  readonly retract: (id: string) => Effect.Effect<void, StorageError>
  /** Returns the offers that hold at `now`, in no order. */
  readonly offers: (now: DateTime.Utc) => Effect.Effect<ReadonlyArray<Offer>, StorageError>
  /** Returns the queues of all kinds that have a job or a worker, sorted by kind. */
  readonly queues: (now: DateTime.Utc) => Effect.Effect<ReadonlyArray<Queue>, StorageError>
  /** Compares the counters with the jobs, in one snapshot. */
  readonly verify: (limit: number) => Effect.Effect<ReadonlyArray<Drift>, StorageError>
  /** Returns the ids of groups after `after`, in order. */
  readonly groupsAfter: (after: GroupId, limit: number) => Effect.Effect<ReadonlyArray<GroupId>, StorageError>
  /** Locks these groups and all their lanes like `load`, and returns their counters together with the counted jobs. */
  readonly recount: (groups: ReadonlyArray<GroupId>) => Effect.Effect<LanesState, StorageError>
}>()("@kinora/scheduler/SchedulerStore") {}
