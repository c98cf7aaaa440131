/**
 * Schedules jobs in lanes with caps, and leases them to workers.
 *
 * A use-case loads lanes inside its own unit of work, decides with `Lanes`, and saves
 * them together with its own rows, so a job exists exactly if the rows it belongs to
 * exist. Workers claim jobs that hold a slot, without locking lanes.
 */
import * as Backend from "@kinora/persistence/Backend"
import type { StorageError } from "@kinora/persistence/StorageError"
import type * as UnitOfWork from "@kinora/persistence/UnitOfWork"
import { Context, Duration, Effect, Layer, type Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { makeDecisions } from "./internal/makeDecisions.ts"
import type { Forgotten } from "./internal/makeForget.ts"
import { makeLeases } from "./internal/makeLeases.ts"
import { makeSettleAndClaim } from "./internal/makeSettleAndClaim.ts"
import type { PlaceRequest } from "./internal/place.ts"
import type {
  CapCommand,
  CheckpointOptions,
  ClaimOptions,
  Delay,
  Enqueue,
  ForgetCommand,
  LeaseOptions,
  LoadRequest,
  NotificationOptions,
  Placed,
  Release,
  RenewalOptions,
  RescueOptions
} from "./internal/requests.ts"
import type { StatusReads } from "./internal/statusReads.ts"
import type { AloneQuestion, Drift, RefillTerms, Rescued, Settled, Swapped } from "./internal/storeTypes.ts"
import type { Schedule } from "./internal/ticks.ts"
import type { ClaimedJob, JobAddress, JobStatus, Lease } from "./Job.ts"
import type * as Lanes from "./Lanes.ts"
import * as MemorySchedulerStore from "./MemorySchedulerStore.ts"
import type { SchedulerError } from "./SchedulerError.ts"
import { SchedulerStore } from "./SchedulerStore.ts"
import * as SqlSchedulerStore from "./SqlSchedulerStore.ts"
import * as Wakeup from "./Wakeup.ts"

/** Schedules jobs. */
export class Scheduler extends Context.Service<
  Scheduler,
  StatusReads & {
    /**
     * Loads lanes, jobs in them, and the unique keys of jobs to enqueue, to decide on with `Lanes`. Locks them until the
     * surrounding unit of work ends, in the order groups, lanes, jobs. Call it inside a
     * unit, once, after all locks that come before lanes (idempotency keys, accounts) and
     * before rows of your own that belong to a job. Creates a missing lane of `lanes` with a cap of
     * 0. Dies outside of a unit, and if a lane of `lanes` belongs to another group.
     */
    readonly load: (request: LoadRequest) => Effect.Effect<Lanes.Lanes, StorageError>

    /**
     * Writes what was decided since `load`, and gives free slots to the jobs that wait
     * longest, those that a live worker claims before the others. Returns the jobs that were
     * pending, or enqueued as pending, and now hold a slot. Wakes workers after the unit has committed. Call it once per `load`: lanes
     * that were saved already, or that are not based on the stored ones, are a defect. A
     * `save` that does not succeed dooms the unit, also if the caller recovers.
     */
    readonly save: (lanes: Lanes.Lanes) => Effect.Effect<{ readonly promoted: ReadonlyArray<string> }, StorageError>

    /**
     * Fails with `QueueFull` if a job of this lane would be refused now. Does not read unique keys. Takes no locks and
     * reserves nothing, so a later enqueue can still be refused. Call it before work that a
     * refusal would waste.
     */
    readonly checkRoom: (request: PlaceRequest) => Effect.Effect<void, SchedulerError | StorageError>

    /**
     * Enqueues one job like `Lanes.enqueue`, or like `Lanes.delay` if it has a delay. Fails with `QueueFull`, `DuplicateJob`, `InvalidJobId` or `InvalidPriority`.
     * Folds concurrent calls into one unit.
     */
    readonly enqueue: <Payload>(
      command: Enqueue<Payload> & Delay
    ) => Effect.Effect<Placed, SchedulerError | StorageError>
    /**
     * Places delayed jobs that are due in their lanes, the earliest first, as if they were enqueued now. A job whose
     * queue is full stays delayed, and is tried again after a pause that grows from one second to one minute. Jobs whose lanes
     * are locked by other units are left out. Returns the number of the others that were due, at most `limit`. `Worker.layer`
     * calls it.
     */
    readonly enqueueDue: (limit: number) => Effect.Effect<number, StorageError>
    /** Returns the time until the next delayed job is due, or zero. `None` if there is none. */
    readonly dueIn: Effect.Effect<Option.Option<Duration.Duration>, StorageError>
    /**
     * Enqueues the jobs of the ticks of these schedules that are due, each once over all processes, as delayed jobs that are due
     * at the time of their tick. Returns the time until the next tick. Logs the failure of a schedule and tries it again later.
     * `CronSchedule.layer` calls it.
     */
    readonly enqueueTicks: (schedules: ReadonlyArray<Schedule>) => Effect.Effect<Duration.Duration, StorageError>
    /** Cancels one job like `Lanes.cancel`. Fails with `NotFound` or `AlreadyRunning`. Folds concurrent calls. */
    readonly cancel: (
      job: string
    ) => Effect.Effect<JobAddress & Pick<JobStatus, "state">, SchedulerError | StorageError>
    /** Settles one job like `Lanes.settle`. Fails with `LeaseLost`. Folds concurrent calls. */
    readonly settle: (
      lease: Lease & JobAddress
    ) => Effect.Effect<JobAddress & Pick<JobStatus, "state">, SchedulerError | StorageError>
    /**
     * Sets the number of slots of one lane, and its weight if it is given. A higher cap promotes waiting jobs; a lower one
     * takes no slot from the jobs that hold one. Returns the promoted jobs, and wakes workers for
     * them after the unit has committed. In a unit of your own, call it before `load` or after
     * `save`.
     */
    readonly setCap: (
      command: CapCommand
    ) => Effect.Effect<{ readonly promoted: ReadonlyArray<string> }, StorageError>

    /**
     * Gives the slots of queued jobs that no live worker claims to the oldest pending jobs of their
     * lanes that a worker claims, so that the other jobs of a lane run while a pool has no worker.
     * A job without its slot is pending again, before all other pending jobs of its lane. Jobs that
     * have started keep their slots. Swaps at most `limit` pairs, and skips locked lanes and jobs:
     * call it every few seconds. Wakes workers after the unit has committed.
     */
    readonly swapSlots: (limit: number) => Effect.Effect<Swapped, StorageError>

    /**
     * Takes a lease for a worker, and records what it claims, for `queues` and `offers`. Returns
     * the lease. It ends an earlier lease of the same `id`. The worker renews it, and stops its
     * runs when it could not renew it within `ttl` by its own monotonic clock, counted from the
     * moment before the last renewal that succeeded. `Worker.layer` does all this.
     */
    readonly takeLease: (options: LeaseOptions) => Effect.Effect<string, StorageError>
    /**
     * Renews a lease until `ttl` from now. Returns `false` if it has expired or was returned: then
     * stop all jobs that were claimed under it, and take another lease.
     */
    readonly renewLease: (options: RenewalOptions) => Effect.Effect<boolean, StorageError>
    /**
     * Asks the worker with this id to drain. From its next heartbeat on, it claims no more jobs; it
     * finishes those that it runs, and keeps its lease. Returns `false` if there is no such worker, or
     * its lease has expired. Idempotent.
     */
    readonly drain: (worker: string) => Effect.Effect<boolean, StorageError>
    /** Withdraws `drain`: the worker claims jobs again, from its next heartbeat on. Returns the same as `drain`. Idempotent. */
    readonly resume: (worker: string) => Effect.Effect<boolean, StorageError>
    /** Returns whether the worker that has this lease is asked to drain. If so, `Worker.layer` drains. */
    readonly isDrained: (lease: string) => Effect.Effect<boolean, StorageError>
    /** Returns the lease of a worker that stops. Jobs that still run under it are rescued. */
    readonly returnLease: (lease: string) => Effect.Effect<void, StorageError>
    /**
     * Ends all leases, so that the next rescue takes over all jobs. Returns their number. Call it
     * only if no worker of this storage is alive, for example at the start of its only process.
     */
    readonly endLeases: Effect.Effect<number, StorageError>

    /**
     * Claims queued jobs of these kinds and pools, in the order in which they got their slots. Returns
     * none if the lease does not hold. The cost does not depend on how many jobs wait for a slot. Inside a unit the jobs are
     * claimed when it commits. Do not load lanes in that unit, since lanes are locked
     * before jobs everywhere else.
     */
    readonly claim: (options: ClaimOptions) => Effect.Effect<ReadonlyArray<ClaimedJob>, StorageError>
    /**
     * Ends jobs like `settle`, gives their slots to pending jobs, and leases those that `claim` would return next: all in one
     * statement, without a unit of work. If jobs of these kinds are queued already, or more get slots than `limit`, it leases
     * none: `claim` does. Without terms it leases none.
     *
     * Returns the leased jobs, and those that it has left: `settle` them. It leaves a job whose lease does not hold, and one
     * of a lane of which more has to be read, or that others change. Inside a unit it leaves all.
     */
    readonly settleAndClaim: (
      ended: ReadonlyArray<Lease & JobAddress>,
      claim?: RefillTerms
    ) => Effect.Effect<Settled, StorageError>
    /** Stores JSON with the job for its next worker. Fails with `LeaseLost`. Folds concurrent calls. */
    readonly checkpoint: (
      command: CheckpointOptions
    ) => Effect.Effect<void, SchedulerError | StorageError>
    /**
     * Returns leased jobs to the queue, before all jobs that were queued after them. They
     * keep their slots and checkpoints, and the attempt does not count. Ignores lost leases.
     * A `pool` moves the job to that pool of its kind, for a worker that cannot run it.
     */
    readonly release: (leases: ReadonlyArray<Release>) => Effect.Effect<void, StorageError>
    /**
     * Releases a running job for its worker, which loses its lease and interrupts the run at its
     * next heartbeat. Returns whether the job was running. Fails with `NotFound` if it has ended.
     */
    readonly requeue: (job: string) => Effect.Effect<boolean, SchedulerError | StorageError>
    /**
     * Takes over the jobs of workers whose lease has ended, in all pools of these kinds, and with `held` those of
     * the caller that it does not run. A job
     * with attempts left is queued again like a released one, with the attempt counted; its last
     * attempt runs alone, after `aloneDelay`. A job without is leased to the caller, who must
     * fail it; if the caller is lost too, the next rescue returns the job again. So is a started
     * job whose time limit passes while it waits for its next worker.
     */
    readonly rescue: (options: RescueOptions) => Effect.Effect<Rescued, StorageError>
    /**
     * Returns whether a worker should finish its jobs, and then claim one that runs alone: if one
     * is due, and the worker runs no job or has the lowest id of those that claim the kind.
     */
    readonly isAloneDue: (question: AloneQuestion) => Effect.Effect<boolean, StorageError>

    /**
     * Deletes the jobs and lanes of a group, for example because a person asks for it. Works in sets of `limit` rows, each a unit
     * of work of its own, or all in the transaction of the caller. If a call ends early, another one continues. Idempotent.
     *
     * Ends delayed, pending and queued jobs, also those between two runs: no handler is called for them. Leaves running jobs with
     * their lanes, unless `abort` is set, and returns how many are left: call it again when they have ended. A job that is
     * enqueued meanwhile can be left too, so end the use of the group first.
     */
    readonly forget: (command: ForgetCommand) => Effect.Effect<Forgotten, StorageError>

    /** Returns jobs that no worker has started and that were enqueued longer than `age` ago, oldest first, except the given ones. */
    readonly waiting: (
      age: Duration.Input,
      limit: number,
      except?: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
    /** Returns the jobs with these ids that have not ended. */
    readonly find: (jobs: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>

    /**
     * Compares the counters with the jobs and returns at most 1,000 differences: counters
     * that are wrong, and lanes in which more jobs hold a slot than may. A lane whose cap
     * was lowered may hold more slots than its cap, but not more than it held before.
     */
    readonly verify: Effect.Effect<ReadonlyArray<Drift>, StorageError>
    /** Counts all jobs again, corrects the counters, and promotes waiting jobs. One unit per 200 groups. */
    readonly rebuild: Effect.Effect<void, StorageError>
  }
>()("@kinora/scheduler/Scheduler") {}

/** Options of a scheduler. */
export interface SchedulerOptions {
  /** Maximum number of waiting jobs of a group, unless the command sets it. Default 20. */
  readonly waitingMax?: number | undefined
  /** Maximum number of claims of a job, unless the command sets it. Default 3. */
  readonly attemptsMax?: number | undefined
  /** Pause before the last attempt of a job, which runs alone. Default 10 seconds. */
  readonly aloneDelay?: Duration.Input | undefined
}

/** Maximum number of differences that `verify` returns. */
const driftsMax = 1_000

const make = Effect.fnUntraced(function*(
  { aloneDelay = "10 seconds", attemptsMax = 3, waitingMax = 20 }: SchedulerOptions
) {
  const store = yield* SchedulerStore
  return Scheduler.of({
    ...yield* makeDecisions({ attemptsMax, waitingMax }),
    ...yield* makeLeases(Duration.fromInputUnsafe(aloneDelay)),
    settleAndClaim: yield* makeSettleAndClaim,
    waiting: Effect.fn("Scheduler.waiting")((age, limit, except = []) =>
      store.waiting(Duration.fromInputUnsafe(age), limit, except)
    ),
    offers: Effect.withSpan(store.offers, "Scheduler.offers"),
    workers: Effect.fn("Scheduler.workers")((selection) => store.workers(selection)),
    lanes: Effect.fn("Scheduler.lanes")((selection) => store.lanes(selection)),
    queues: Effect.withSpan(store.queues, "Scheduler.queues"),
    find: Effect.fn("Scheduler.find")((jobs) => store.find(jobs)),
    verify: Effect.withSpan(store.verify(driftsMax), "Scheduler.verify")
  })
})

/** Provides a scheduler over a store. Use `layerMemory` or `layerPostgres` unless you compose the parts yourself. */
export const layerWith = (
  options: SchedulerOptions = {}
): Layer.Layer<Scheduler, never, SchedulerStore | UnitOfWork.UnitOfWork | Wakeup.Wakeup> =>
  Layer.effect(Scheduler, make(options))

/** Provides a scheduler in the memory of this process, for tests and single processes. Its jobs end with the layer. */
export const layerMemory: Backend.MemoryLayer<Scheduler | Wakeup.Wakeup> = layerWith().pipe(
  Backend.memory(MemorySchedulerStore.layer),
  Layer.provideMerge(Wakeup.layer)
)

/**
 * Provides a scheduler in Postgres or PGlite. Brings the scheduler's tables up to date when
 * the layer is built. Wakes the workers of other processes over `LISTEN` and `NOTIFY`. Workers
 * whose client cannot listen find jobs of other processes by polling: those of `PgClient`
 * and of `layerPg` of `@kinora/persistence/external` can, unless they have one connection.
 */
export const layerPostgres = (
  { listen, notify, schema, ...options }: SchedulerOptions & NotificationOptions & Backend.SchemaOptions = {}
): Backend.PostgresLayer<Scheduler | Wakeup.Wakeup> => {
  const { migrations } = SqlSchedulerStore
  const layer = Layer.provide(Wakeup.layerPostgres({ listen, notify }), SecureRandom.layerWebCrypto)
  return layerWith(options).pipe(
    Layer.provideMerge(Backend.inSchema({ layer, migrations }, schema).layer),
    Backend.postgres(Backend.inSchema(SqlSchedulerStore, schema))
  )
}
