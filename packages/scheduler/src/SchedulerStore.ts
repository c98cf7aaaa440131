/** The port to the storage of jobs and lanes. Rules are decided by `Lanes`; the time is the storage's (`DatabaseTime`). */
import type { StorageError } from "@kinora/persistence/StorageError"
import { Context, type DateTime, type Duration, type Effect, type Option } from "effect"
import type { StoredDelayed } from "./internal/delays.ts"
import type { GroupId, JobId, LaneId } from "./internal/ids.ts"
import type { LanesChanges } from "./internal/laneChanges.ts"
import type { GroupCounters, LaneCounters, LanesState, NewJob } from "./internal/loadedLanes.ts"
import type { Release } from "./internal/requests.ts"
import type { StatusReads } from "./internal/statusReads.ts"
import type {
  AloneQuestion,
  Applied,
  Checkpoint,
  ClaimTerms,
  Drift,
  GroupJobs,
  JobSlot,
  LeaseTerms,
  NewLease,
  RefillTerms,
  Renewal,
  Rescued,
  RescueTerms,
  Settled,
  StoreRequest,
  Swapped
} from "./internal/storeTypes.ts"
import type { Advance, HandledSchedule } from "./internal/ticks.ts"
import type { ClaimedJob, JobAddress, JobStatus, Lease } from "./Job.ts"

/** Stores jobs and lanes. Each method except `load`, `recount`, `apply`, `swap` and `forgetLanes` is one atomic step. */
export class SchedulerStore extends Context.Service<
  SchedulerStore,
  StatusReads & {
    /** Locks groups, then lanes, then jobs, then delayed jobs, each in id order, until the unit ends. Returns lanes also if they belong to another group. */
    readonly load: (request: StoreRequest) => Effect.Effect<LanesState, StorageError>
    /** Reads the counters of a lane and its group without locks. Returns zeros for those that do not exist. */
    readonly peek: (
      lane: LaneId,
      group: GroupId
    ) => Effect.Effect<{ readonly lane: LaneCounters; readonly group: GroupCounters }, StorageError>
    /**
     * Applies changes to the lanes that the unit loaded, and leases the job of `slot`, which they enqueue, as a claim does. Dies
     * if the stored counters or the jobs to end differ from the loaded ones, or if fewer jobs are pending than
     * are to be promoted. Within `Pipelining.atCommit`, changes that promote and lease nothing run with the commit.
     */
    readonly apply: (changes: LanesChanges, slot?: JobSlot) => Effect.Effect<Applied, StorageError>
    /**
     * Enqueues a job into a slot of its lane, and leases it to a worker, in one step and without a unit, if nothing else follows from it:
     * the lane has this cap and this weight and is not locked, a slot is free, no job waits for it, and the lease holds. Returns
     * `undefined` and changes nothing otherwise: then enqueue the job in a unit.
     */
    readonly enqueueLeased: (
      job: NewJob,
      lane: Pick<LaneCounters, "cap" | "weight">,
      terms: LeaseTerms
    ) => Effect.Effect<ClaimedJob | undefined, StorageError>
    /**
     * Ends a job under its lease, in one step and without a unit, if nothing else follows from it: no job of its lane waits for a
     * slot, or for its start. Returns whether it did, and changes nothing otherwise.
     */
    readonly end: (lease: Lease & JobAddress) => Effect.Effect<boolean, StorageError>
    /**
     * Ends jobs under their leases, gives their slots to pending jobs, and leases those of `terms.kinds`, the smallest share
     * first, in one step and without a unit. Leases none if these are more than `terms.limit`, if other jobs of these kinds
     * are queued, which come first, or if the lease of the worker does not hold. Leaves jobs whose lease does not hold, and
     * may leave others: those of a lane that is locked or has just changed, and those of a lane whose next pending job no
     * worker claims.
     */
    readonly settleAndClaim: (
      ended: ReadonlyArray<Lease & JobAddress>,
      terms: RefillTerms
    ) => Effect.Effect<Settled, StorageError>
    /**
     * Exchanges queued jobs that have not started and that no worker claims with the oldest pending
     * jobs of their lanes that a worker claims. At most `limit` swaps in at most `limit` lanes. Locks
     * the lanes until the unit ends, and skips locked ones.
     */
    readonly swap: (limit: number) => Effect.Effect<Swapped, StorageError>
    /** Returns delayed jobs that are due, the earliest first, without locks, and without those of some groups. */
    readonly due: (
      limit: number,
      except: ReadonlyArray<GroupId>
    ) => Effect.Effect<ReadonlyArray<JobAddress>, StorageError>
    /** Locks the lanes, and their groups, until the unit ends. Skips locked ones, and returns the others. */
    readonly lockFree: (lanes: ReadonlyArray<LaneId>) => Effect.Effect<ReadonlyArray<LaneId>, StorageError>
    /** Returns those of the jobs that are delayed and due, the earliest first. The unit has loaded them. */
    readonly findDue: (jobs: ReadonlyArray<JobId>) => Effect.Effect<ReadonlyArray<StoredDelayed>, StorageError>
    /** Returns the time until the next delayed job is due, or zero. `None` if there is none. */
    readonly dueIn: Effect.Effect<Option.Option<Duration.Duration>, StorageError>
    /** Reads these schedules, and the time. A missing one is created, with no tick before now. */
    readonly schedules: (
      names: ReadonlyArray<string>
    ) => Effect.Effect<
      { readonly now: DateTime.Utc; readonly handled: ReadonlyArray<HandledSchedule> },
      StorageError
    >
    /** Advances a schedule that is at `from`, and locks it until the unit ends. Returns whether it was at `from`. */
    readonly advance: (advance: Advance) => Effect.Effect<boolean, StorageError>
    /** Claims queued jobs, the smallest share first, then in the order in which they got their slots; or one that has to run alone. Skips locked jobs. */
    readonly claim: (terms: ClaimTerms) => Effect.Effect<ReadonlyArray<ClaimedJob>, StorageError>
    /** Takes a lease. Ends the earlier one of the same worker, and deletes workers whose lease expired long ago. */
    readonly takeLease: (lease: NewLease) => Effect.Effect<void, StorageError>
    /** Renews a lease that holds. Returns whether it does. */
    readonly renewLease: (renewal: Renewal) => Effect.Effect<boolean, StorageError>
    /** Asks the worker with this id to drain, or no longer. Returns whether there is one whose lease has not expired. */
    readonly drain: (worker: string, drains: boolean) => Effect.Effect<boolean, StorageError>
    /** Returns whether the worker that has this lease is asked to drain. */
    readonly isDrained: (lease: string) => Effect.Effect<boolean, StorageError>
    /** Deletes the worker that has this lease. */
    readonly returnLease: (lease: string) => Effect.Effect<void, StorageError>
    /** Ends all leases. Returns how many jobs ran under them. */
    readonly endLeases: Effect.Effect<number, StorageError>
    /** Returns whether a worker should run no other job, so that it can run one alone. */
    readonly isAloneDue: (question: AloneQuestion) => Effect.Effect<boolean, StorageError>
    /** Stores checkpoints, at most one per job. Returns the jobs whose lease holds. */
    readonly checkpoint: (
      checkpoints: ReadonlyArray<Checkpoint>
    ) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
    /** Queues jobs again in their positions without counting the attempt. At most one release per job. Returns those whose lease held. */
    readonly release: (leases: ReadonlyArray<Release>) => Effect.Effect<ReadonlyArray<JobId>, StorageError>
    /**
     * Ends expired leases, and takes over jobs of all pools of the kinds: started jobs that wait
     * and whose time limit has passed, the longest passed first, then jobs whose lease does not
     * hold, and those under the lease of the rescuer that are not `held`, in the order of their positions. Skips locked jobs.
     */
    readonly rescue: (terms: RescueTerms) => Effect.Effect<Rescued, StorageError>
    /** Returns jobs that have not started and were enqueued longer than `age` ago, oldest first, except the given ones. */
    readonly waiting: (
      age: Duration.Duration,
      limit: number,
      except: ReadonlyArray<JobId>
    ) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
    /** Returns the jobs with these ids that have not ended, in no order. */
    readonly find: (jobs: ReadonlyArray<JobId>) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
    /**
     * Returns up to `limit` jobs of a group without locks: per lane, delayed ones, pending ones, those that hold a slot. With
     * `running`, also those that run.
     */
    readonly jobsOf: (selection: GroupJobs) => Effect.Effect<ReadonlyArray<JobAddress>, StorageError>
    /**
     * Deletes up to `limit` lanes of a group without jobs, and the group if it has no lane left. Locks them in the order of
     * `load` until the unit ends. Returns the number of lanes.
     */
    readonly forgetLanes: (group: GroupId, limit: number) => Effect.Effect<number, StorageError>
    /** Compares the counters with the jobs, in one snapshot. */
    readonly verify: (limit: number) => Effect.Effect<ReadonlyArray<Drift>, StorageError>
    /** Returns the ids of groups after `after`, in order. */
    readonly groupsAfter: (after: GroupId, limit: number) => Effect.Effect<ReadonlyArray<GroupId>, StorageError>
    /** Locks these groups and all their lanes like `load`, and returns their counters together with the counted jobs. */
    readonly recount: (groups: ReadonlyArray<GroupId>) => Effect.Effect<LanesState, StorageError>
  }
>()("@kinora/scheduler/SchedulerStore") {}
