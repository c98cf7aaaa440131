/**
 * Lanes with caps, and jobs that workers hold under fenced leases.
 *
 * A use-case opens the lanes of a set of commands inside its own unit of work,
 * decides, and saves together with its other rows; so a job exists exactly when what
 * it belongs to does. Workers claim what holds a slot, and touch no lane to do so.
 */
import * as Folding from "@kinora/persistence/Folding"
import type { Proposal } from "@kinora/persistence/Proposal"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, type Duration, Effect, Layer, Result, type Schema } from "effect"
import type { ClaimedJob, GroupId, JobAddress, JobId, JobStatus, LaneId, Lease } from "./Job.ts"
import {
  type Ended,
  type Enqueue,
  type Enqueued,
  type EnqueueDefaults,
  Lanes,
  type LanesChanges,
  type SetCap
} from "./Lanes.ts"
import { type AlreadyRunning, LeaseLost, type NotFound, type QueueFull, SchedulerError } from "./SchedulerError.ts"
import { type Drift, LaneMoved, type Rescued, SchedulerStore } from "./SchedulerStore.ts"
import { Wakeup } from "./Wakeup.ts"

/** Schedules jobs. */
export class Scheduler extends Context.Service<Scheduler, {
  /**
   * Opens lanes, and jobs in them, for commands: locked until the surrounding unit
   * ends, in the order groups, lanes, jobs. Call it inside a unit, once, after every
   * lock that comes before lanes (idempotency keys, accounts) and before rows of your
   * own that belong to a job. A missing lane is made, without slots until a command
   * brings a cap. Opening a lane under another group than before is a defect.
   */
  readonly open: (request: OpenRequest) => Effect.Effect<OpenLanes, StorageError>

  /** `OpenLanes.enqueue` for a single job, folded with other callers into one unit. Fails with `QueueFull`. */
  readonly enqueue: <Payload>(command: Enqueue<Payload>) => Effect.Effect<Enqueued, SchedulerError | StorageError>
  /** `OpenLanes.cancel` for a single job, folded likewise. Fails with `NotFound` or `AlreadyRunning`. */
  readonly cancel: (job: JobId) => Effect.Effect<Ended, SchedulerError | StorageError>
  /** `OpenLanes.settle` for a single job, folded likewise. Fails with `LeaseLost`. */
  readonly settle: (lease: Lease & JobAddress) => Effect.Effect<Ended, SchedulerError | StorageError>
  /** `OpenLanes.setCap` for a single lane. Jobs that get a slot by it are queued in the same unit. */
  readonly setCap: (command: SetCap & { readonly group: GroupId }) => Effect.Effect<void, StorageError>

  /**
   * Leases queued jobs of these kinds, those first that have held their slot longest.
   * What waits for a slot costs it nothing, however much that is. Inside a unit the
   * jobs are claimed when it commits; do not open lanes in that unit, since lanes are
   * locked before jobs everywhere else.
   */
  readonly claim: (options: ClaimOptions) => Effect.Effect<ReadonlyArray<ClaimedJob>, StorageError>
  /** Extends leases to `lease` from now. Answers those that are lost: stop working on them. */
  readonly heartbeat: (
    leases: ReadonlyArray<Lease>,
    lease: Duration.Input
  ) => Effect.Effect<ReadonlyArray<Lease>, StorageError>
  /** Keeps JSON with the job for whoever takes it over, folded with other callers. Fails with `LeaseLost`. */
  readonly checkpoint: (
    command: Lease & { readonly checkpoint: Schema.Json }
  ) => Effect.Effect<void, SchedulerError | StorageError>
  /**
   * Gives leases back: the jobs are queued again before all that were queued after
   * them, keep their slots and checkpoints, and have not used up an attempt. A lost
   * lease is passed over.
   */
  readonly release: (leases: ReadonlyArray<Lease>) => Effect.Effect<void, StorageError>
  /**
   * Takes leases that ran out. A job with attempts left is queued again like a released
   * one; one without is leased to the caller, who is to fail it. Should the caller be
   * lost as well, the next rescue finds the job again.
   */
  readonly rescue: (options: ClaimOptions) => Effect.Effect<Rescued, StorageError>
  /**
   * Has the leases of jobs in their first attempt run out now, so that a rescue takes
   * them at once. For a process that knows that no worker of this storage is alive,
   * such as the only one that can have it, before its own worker begins. Later attempts
   * wait for their lease, so that a process that dies again and again does not use up
   * all of them in a moment. Answers how many there were.
   */
  readonly expireFirstLeases: Effect.Effect<number, StorageError>

  /** Jobs that have not started and were enqueued before `before`, oldest first, without those named. */
  readonly waitingSince: (
    before: DateTime.Utc,
    limit: number,
    except?: ReadonlyArray<JobId>
  ) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
  /** Jobs as they stand now; without those that have ended. */
  readonly find: (jobs: ReadonlyArray<JobId>) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>

  /** Counters that disagree with the jobs, at most 1,000. Always empty, unless somebody edited the tables. */
  readonly verify: Effect.Effect<ReadonlyArray<Drift>, StorageError>
  /** Counts all jobs anew, corrects the counters, and promotes who should have been. Each page of groups is a unit. */
  readonly rebuild: Effect.Effect<void, StorageError>
}>()("@kinora/scheduler/Scheduler") {}

/** What to open. The lanes of the jobs need not be named again. */
export interface OpenRequest {
  readonly lanes?: ReadonlyArray<{ readonly lane: LaneId; readonly group: GroupId }> | undefined
  /** Jobs that `cancel` and `settle` are going to be asked about. One that does not exist is no mistake. */
  readonly jobs?: ReadonlyArray<JobAddress> | undefined
}

/**
 * Lanes that a unit has opened. Each answer is a proposal or a refusal: keep it or drop
 * it before you ask for the next, and save at the end. See `Lanes` for the rules.
 */
export interface OpenLanes {
  /** Gives the job a slot if one is free and nobody waits for it, else a place in the queue. */
  readonly enqueue: <Payload>(command: Enqueue<Payload>) => Result.Result<Proposal<Enqueued>, QueueFull>
  /** Ends a job that no worker has started, for whatever reason. */
  readonly cancel: (job: JobId) => Result.Result<Proposal<Ended>, NotFound | AlreadyRunning>
  /** Ends a running job under its lease, completed or failed. */
  readonly settle: (lease: Lease) => Result.Result<Proposal<Ended>, LeaseLost>
  /** Changes the slots of a lane. */
  readonly setCap: (command: SetCap) => Result.Result<Proposal<SetCap>>
  /** Writes what was kept and gives freed slots to those that wait longest. Wakes workers once the unit commits. Call it once. */
  readonly save: Effect.Effect<Saved, StorageError>
}

/** What `save` brought about beside what was proposed. */
export interface Saved {
  /** Jobs that waited, or were enqueued to wait, and now hold a slot. */
  readonly promoted: ReadonlyArray<JobId>
}

/** Which jobs to take, for whom, and for how long. */
export interface ClaimOptions {
  /** The name of the worker, for people. */
  readonly worker: string
  readonly kinds: ReadonlyArray<string>
  /** At most this many jobs. */
  readonly limit: number
  /** How long the lease holds without a heartbeat. */
  readonly lease: Duration.Input
}

/** What the scheduler can be told. */
export interface SchedulerOptions {
  /** How many jobs of a group may wait, unless the command says so. Default 20. */
  readonly waitingMax?: number | undefined
  /** How often a job may be claimed, unless the command says so. Default 3. */
  readonly attemptsMax?: number | undefined
}

/** A scheduler over a store. */
export const make = Effect.fnUntraced(function*({ attemptsMax = 3, waitingMax = 20 }: SchedulerOptions) {
  const { afterCommit, atomically, isOpen } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const wakeup = yield* Wakeup
  const defaults: EnqueueDefaults = { attemptsMax, waitingMax }

  const saveChanges = Effect.fnUntraced(function*(changes: LanesChanges) {
    const promoted = yield* store.apply(changes, yield* DateTime.now)
    const hasWork = promoted.length > 0 || changes.enqueued.some((job) => job.state === "queued")
    if (hasWork) yield* afterCommit(wakeup.wake)
    return { promoted }
  })

  const open = Effect.fn("Scheduler.open")(
    function*({ jobs = [], lanes = [] }: OpenRequest): Effect.fn.Return<OpenLanes, StorageError> {
      // Outside of a unit the locks would be gone before anything is decided.
      if (!(yield* isOpen)) return yield* Effect.die(new Error("Scheduler.open was called outside of a unit of work"))
      const groupOf = new Map<LaneId, GroupId>()
      for (const { group, lane } of [...lanes, ...jobs]) {
        const other = groupOf.get(lane)
        if (other !== undefined && other !== group) return yield* Effect.die(new LaneMoved(lane, other, group))
        groupOf.set(lane, group)
      }
      const state = yield* store.load({
        groups: Array.from(new Set(groupOf.values())),
        lanes: Array.from(groupOf, ([lane, group]) => ({ lane, group })),
        jobs: Array.from(new Set(jobs.map(({ job }) => job)))
      })
      const decided = new Lanes(state, defaults)
      return {
        enqueue: (command) => decided.enqueue(command),
        cancel: (job) => decided.cancel(job),
        settle: (lease) => decided.settle(lease),
        setCap: (command) => decided.setCap(command),
        save: Effect.suspend(() => saveChanges(decided.changes()))
      }
    }
  )

  /** Decides on a set of commands in one unit: a result for each, a refusal being one. */
  const decideAll = <Command, A, Refusal>(
    request: (commands: ReadonlyArray<Command>) => Effect.Effect<OpenRequest, StorageError>,
    decide: (lanes: OpenLanes, command: Command) => Result.Result<Proposal<A>, Refusal>
  ) =>
    Effect.fnUntraced(function*(commands: ReadonlyArray<Command>) {
      const lanes = yield* open(yield* request(commands))
      const results = commands.map((command) => Result.map(decide(lanes, command), keep))
      yield* lanes.save
      return results
    }, atomically)

  const enqueueFolded = yield* Folding.make({
    name: "Scheduler.enqueue",
    run: decideAll(
      (commands: ReadonlyArray<Enqueue<Schema.Json>>) => Effect.succeed({ lanes: commands }),
      (lanes, command) => lanes.enqueue(command)
    )
  })

  const cancelFolded = yield* Folding.make({
    name: "Scheduler.cancel",
    // A job never changes its lane, so where it is can be asked before the lane is locked.
    run: decideAll(
      (jobs: ReadonlyArray<JobId>) => Effect.map(store.find(jobs), (jobs) => ({ jobs })),
      (lanes, job) => lanes.cancel(job)
    )
  })

  const settleFolded = yield* Folding.make({
    name: "Scheduler.settle",
    run: decideAll(
      (leases: ReadonlyArray<Lease & JobAddress>) => Effect.succeed({ jobs: leases }),
      (lanes, lease) => lanes.settle(lease)
    )
  })

  const checkpointFolded = yield* Folding.make({
    name: "Scheduler.checkpoint",
    run: Effect.fnUntraced(function*(commands: ReadonlyArray<Lease & { readonly checkpoint: Schema.Json }>) {
      // Of one job only the newest epoch can hold, and of its checkpoints the last counts.
      const newest = new Map<JobId, Lease & { readonly checkpoint: Schema.Json }>()
      for (const command of commands) {
        if (command.epoch >= (newest.get(command.job)?.epoch ?? 0)) newest.set(command.job, command)
      }
      const held = new Set(yield* store.checkpoint(Array.from(newest.values())))
      return commands.map(({ epoch, job }): Result.Result<void, LeaseLost> =>
        held.has(job) && newest.get(job)?.epoch === epoch ? Result.void : Result.fail(new LeaseLost({ job, epoch }))
      )
    })
  })

  const setCap = Effect.fn("Scheduler.setCap")(function*(command: SetCap & { readonly group: GroupId }) {
    const lanes = yield* open({ lanes: [command] })
    Result.map(lanes.setCap(command), keep)
    yield* lanes.save
  }, atomically)

  const claim = Effect.fn("Scheduler.claim")(function*(options: ClaimOptions) {
    if (options.limit <= 0 || options.kinds.length === 0) return []
    return yield* store.claim(yield* termsOf(options))
  })

  const heartbeat = Effect.fn("Scheduler.heartbeat")(function*(leases: ReadonlyArray<Lease>, lease: Duration.Input) {
    if (leases.length === 0) return []
    const now = yield* DateTime.now
    const held = new Set(yield* store.heartbeat(leases, DateTime.addDuration(now, lease)))
    return leases.filter(({ job }) => !held.has(job))
  })

  const release = Effect.fn("Scheduler.release")(function*(leases: ReadonlyArray<Lease>) {
    if (leases.length === 0) return
    const released = yield* store.release(leases)
    if (released.length > 0) yield* afterCommit(wakeup.wake)
  })

  const rescue = Effect.fn("Scheduler.rescue")(function*(options: ClaimOptions) {
    if (options.limit <= 0 || options.kinds.length === 0) return { requeued: [], exhausted: [] }
    const rescued = yield* store.rescue(yield* termsOf(options))
    if (rescued.requeued.length > 0) yield* afterCommit(wakeup.wake)
    return rescued
  })

  const rebuildPage = Effect.fnUntraced(function*(after: GroupId) {
    const groups = yield* store.groupsAfter(after, groupsPerPage)
    if (groups.length === 0) return undefined
    const state = yield* store.recount(groups)
    yield* saveChanges(new Lanes(state, defaults).changes({ all: true }))
    return groups.at(-1)
  }, atomically)

  const rebuild = Effect.gen(function*() {
    let after: GroupId | undefined = ""
    while (after !== undefined) after = yield* rebuildPage(after)
  }).pipe(Effect.withSpan("Scheduler.rebuild"))

  return Scheduler.of({
    open,
    enqueue: (command) => refusalAsFailure(Effect.suspend(() => enqueueFolded(encoded(command)))),
    cancel: (job) => refusalAsFailure(cancelFolded(job)),
    settle: (lease) => refusalAsFailure(settleFolded(lease)),
    setCap,
    claim,
    heartbeat,
    checkpoint: (command) => refusalAsFailure(checkpointFolded(command)),
    release,
    rescue,
    expireFirstLeases: Effect.withSpan(
      Effect.flatMap(DateTime.now, store.expireFirstLeases),
      "Scheduler.expireFirstLeases"
    ),
    waitingSince: Effect.fn("Scheduler.waitingSince")((before, limit, except = []) =>
      store.waitingSince(before, limit, except)
    ),
    find: Effect.fn("Scheduler.find")((jobs) => store.find(jobs)),
    verify: Effect.withSpan(store.verify(driftsMax), "Scheduler.verify"),
    rebuild
  })
})

/** A scheduler over a store, with options. */
export const layerWith = (
  options: SchedulerOptions
): Layer.Layer<Scheduler, never, SchedulerStore | UnitOfWork | Wakeup> => Layer.effect(Scheduler, make(options))

/** A scheduler over a store. */
export const layer: Layer.Layer<Scheduler, never, SchedulerStore | UnitOfWork | Wakeup> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const groupsPerPage = 200
const driftsMax = 1_000

const keep = <A>(proposal: Proposal<A>): A => {
  proposal.keep()
  return proposal.value
}

const refusalAsFailure = <A, Refusal extends SchedulerError["reason"], E, R>(
  effect: Effect.Effect<Result.Result<A, Refusal>, E, R>
): Effect.Effect<A, SchedulerError | E, R> =>
  Effect.flatMap(effect, (result) =>
    Result.isSuccess(result)
      ? Effect.succeed(result.success)
      : Effect.fail(new SchedulerError({ reason: result.failure })))

/** The command with its payload as JSON, so that commands of all kinds fold into one set. */
const encoded = <Payload>(command: Enqueue<Payload>): Enqueue<Schema.Json> => ({
  ...command,
  kind: { name: command.kind.name, encode: (json) => json, decode: (json) => json },
  payload: command.kind.encode(command.payload)
})

const termsOf = Effect.fnUntraced(function*({ kinds, lease, limit, worker }: ClaimOptions) {
  const now = yield* DateTime.now
  return { worker, kinds, limit, now, until: DateTime.addDuration(now, lease) }
})
