/**
 * Schedules jobs in lanes with caps, and leases them to workers.
 *
 * A use-case loads lanes inside its own unit of work, decides with `Lanes`, and saves
 * them together with its own rows, so a job exists exactly if the rows it belongs to
 * exist. Workers claim jobs that hold a slot, without locking lanes.
 */
import * as Decision from "@kinora/persistence/Decision"
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Context, DateTime, type Duration, Effect, Layer, Result, type Schema } from "effect"
import * as Loaded from "./internal/loadedLanes.ts"
import type { ClaimedJob, GroupId, JobAddress, JobId, JobStatus, LaneId, Lease } from "./Job.ts"
import * as Lanes from "./Lanes.ts"
import { LeaseLost, SchedulerError } from "./SchedulerError.ts"
import { type Drift, type Rescued, SchedulerStore } from "./SchedulerStore.ts"
import { Wakeup } from "./Wakeup.ts"

/** Schedules jobs. */
export class Scheduler extends Context.Service<Scheduler, {
  /**
   * Loads lanes, and jobs in them, to decide on with `Lanes`. Locks them until the
   * surrounding unit of work ends, in the order groups, lanes, jobs. Call it inside a
   * unit, once, after all locks that come before lanes (idempotency keys, accounts) and
   * before rows of your own that belong to a job. Creates a missing lane with a cap of
   * 0. Dies outside of a unit, and if a lane belongs to another group.
   */
  readonly load: (request: LoadRequest) => Effect.Effect<Lanes.Lanes, StorageError>

  /**
   * Writes what was decided since `load`, and gives free slots to the jobs that wait
   * longest. Wakes workers after the unit has committed. Call it once per `load`: lanes
   * that were saved already, or that are not based on the stored ones, are a defect.
   */
  readonly save: (lanes: Lanes.Lanes) => Effect.Effect<Saved, StorageError>

  /** Enqueues one job like `Lanes.enqueue`. Fails with `QueueFull`. Folds concurrent calls into one unit. */
  readonly enqueue: <Payload>(
    command: Lanes.Enqueue<Payload>
  ) => Effect.Effect<Lanes.Enqueued, SchedulerError | StorageError>
  /** Cancels one job like `Lanes.cancel`. Fails with `NotFound` or `AlreadyRunning`. Folds concurrent calls. */
  readonly cancel: (job: JobId) => Effect.Effect<Lanes.Ended, SchedulerError | StorageError>
  /** Settles one job like `Lanes.settle`. Fails with `LeaseLost`. Folds concurrent calls. */
  readonly settle: (lease: Lease & JobAddress) => Effect.Effect<Lanes.Ended, SchedulerError | StorageError>
  /** Sets the cap of one lane like `Lanes.setCap`. */
  readonly setCap: (
    command: { readonly lane: LaneId; readonly group: GroupId; readonly cap: number }
  ) => Effect.Effect<void, StorageError>

  /**
   * Leases queued jobs of these kinds, in the order in which they got their slots. The
   * cost does not depend on how many jobs wait for a slot. Inside a unit the jobs are
   * claimed when it commits. Do not load lanes in that unit, since lanes are locked
   * before jobs everywhere else.
   */
  readonly claim: (options: ClaimOptions) => Effect.Effect<ReadonlyArray<ClaimedJob>, StorageError>
  /** Renews leases until `lease` from now. Returns the lost ones: stop working on these jobs. */
  readonly heartbeat: (
    leases: ReadonlyArray<Lease>,
    lease: Duration.Input
  ) => Effect.Effect<ReadonlyArray<Lease>, StorageError>
  /** Stores JSON with the job for its next worker. Fails with `LeaseLost`. Folds concurrent calls. */
  readonly checkpoint: (
    command: Lease & { readonly checkpoint: Schema.Json }
  ) => Effect.Effect<void, SchedulerError | StorageError>
  /**
   * Returns leased jobs to the queue, before all jobs that were queued after them. They
   * keep their slots and checkpoints, and the attempt does not count. Ignores lost leases.
   */
  readonly release: (leases: ReadonlyArray<Lease>) => Effect.Effect<void, StorageError>
  /**
   * Takes over expired leases. A job with attempts left is queued again like a released
   * one, with the attempt counted. A job without is leased to the caller, who must fail
   * it; if the caller is lost too, the next rescue returns the job again.
   */
  readonly rescue: (options: ClaimOptions) => Effect.Effect<Rescued, StorageError>
  /**
   * Expires the leases of all first attempts now, so that the next rescue takes them over.
   * Returns their number. Call it only if no worker of this storage is alive, for example
   * at the start of its only process. Later attempts keep their leases, so that a process
   * that crashes repeatedly does not use up all attempts of a job at once.
   */
  readonly expireFirstLeases: Effect.Effect<number, StorageError>

  /** Returns jobs that no worker has started and that were enqueued before `before`, oldest first, except the given ones. */
  readonly waitingSince: (
    before: DateTime.Utc,
    limit: number,
    except?: ReadonlyArray<JobId>
  ) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>
  /** Returns the jobs with these ids that have not ended. */
  readonly find: (jobs: ReadonlyArray<JobId>) => Effect.Effect<ReadonlyArray<JobStatus>, StorageError>

  /**
   * Compares the counters with the jobs and returns at most 1,000 differences: counters
   * that are wrong, and lanes in which more jobs hold a slot than may. A lane whose cap
   * was lowered may hold more slots than its cap, but not more than it held then.
   */
  readonly verify: Effect.Effect<ReadonlyArray<Drift>, StorageError>
  /** Counts all jobs again, corrects the counters, and promotes waiting jobs. One unit per 200 groups. */
  readonly rebuild: Effect.Effect<void, StorageError>
}>()("@kinora/scheduler/Scheduler") {}

/** What to load. */
export interface LoadRequest {
  readonly lanes?: ReadonlyArray<{ readonly lane: LaneId; readonly group: GroupId }> | undefined
  /** Jobs to cancel or settle. Their lanes are loaded too. Jobs that do not exist are ignored. */
  readonly jobs?: ReadonlyArray<JobAddress> | undefined
}

/** Result of `Scheduler.save`. */
export interface Saved {
  /** Jobs that were pending, or enqueued as pending, and now hold a slot. */
  readonly promoted: ReadonlyArray<JobId>
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

/** Options for `Scheduler.layerWith`. */
export interface SchedulerOptions {
  /** Maximum number of waiting jobs of a group, unless the command sets it. Default 20. */
  readonly waitingMax?: number | undefined
  /** Maximum number of claims of a job, unless the command sets it. Default 3. */
  readonly attemptsMax?: number | undefined
}

/** Creates a scheduler over a store. */
export const make = Effect.fnUntraced(function*({ attemptsMax = 3, waitingMax = 20 }: SchedulerOptions) {
  const { afterCommit, atomically, isOpen } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const wakeup = yield* Wakeup
  const defaults: Loaded.EnqueueDefaults = { attemptsMax, waitingMax }

  const load = Effect.fn("Scheduler.load")(function*({ jobs = [], lanes = [] }: LoadRequest) {
    // Outside of a unit the locks would end before anything is decided.
    if (!(yield* isOpen)) return yield* Effect.die(new Error("Scheduler.load was called outside of a unit of work"))
    const groupOf = groupsOf([...lanes, ...jobs])
    const state = yield* store.load({
      groups: Array.from(new Set(groupOf.values())),
      lanes: Array.from(groupOf, ([lane, group]) => ({ lane, group })),
      jobs: Array.from(new Set(jobs.map(({ job }) => job)))
    })
    return Loaded.fromState(state, defaults)
  })

  const save = Effect.fnUntraced(function*(lanes: Lanes.Lanes) {
    const changes = Loaded.changesOf(lanes)
    const promoted = yield* store.apply(changes, yield* DateTime.now)
    const hasWork = promoted.length > 0 || changes.enqueued.some((job) => job.state === "queued")
    if (hasWork) yield* afterCommit(wakeup.wake)
    return { promoted }
  })

  /** Decides a set of commands in one unit. */
  const decideAll = <Command, A, Refusal extends SchedulerError["reason"]>(
    request: (commands: ReadonlyArray<Command>) => Effect.Effect<LoadRequest, StorageError>,
    decide: (lanes: Lanes.Lanes, command: Command) => Decision.Decision<Lanes.Lanes, A, Refusal>
  ) =>
    Effect.fnUntraced(function*(commands: ReadonlyArray<Command>) {
      const lanes = yield* load(yield* request(commands))
      const { results, state } = Decision.all(lanes, commands, decide)
      yield* save(state)
      return results.map((result) => Result.mapError(result, (reason) => new SchedulerError({ reason })))
    }, atomically)

  const enqueueFolded = yield* Folding.makeResult({
    name: "Scheduler.enqueue",
    run: decideAll(
      (commands: ReadonlyArray<Lanes.Enqueue<Schema.Json>>) => Effect.succeed({ lanes: commands }),
      Lanes.enqueue<Schema.Json>
    )
  })

  const cancel = yield* Folding.makeResult({
    name: "Scheduler.cancel",
    // A job never changes its lane, so its address is read before the lane is locked.
    run: decideAll(
      (jobs: ReadonlyArray<JobId>) => Effect.map(store.find(jobs), (jobs) => ({ jobs })),
      Lanes.cancel
    )
  })

  const settle = yield* Folding.makeResult({
    name: "Scheduler.settle",
    run: decideAll(
      (leases: ReadonlyArray<Lease & JobAddress>) => Effect.succeed({ jobs: leases }),
      Lanes.settle
    )
  })

  const checkpoint = yield* Folding.makeResult({
    name: "Scheduler.checkpoint",
    run: Effect.fnUntraced(function*(commands: ReadonlyArray<Lease & { readonly checkpoint: Schema.Json }>) {
      // Only the newest epoch of a job can hold its lease, and its last checkpoint is the one to store.
      const newest = new Map<JobId, Lease & { readonly checkpoint: Schema.Json }>()
      for (const command of commands) {
        if (command.epoch >= (newest.get(command.job)?.epoch ?? 0)) newest.set(command.job, command)
      }
      const held = new Set(yield* store.checkpoint(Array.from(newest.values())))
      return commands.map(({ epoch, job }) =>
        held.has(job) && newest.get(job)?.epoch === epoch
          ? Result.void
          : Result.fail(new SchedulerError({ reason: new LeaseLost({ job, epoch }) }))
      )
    })
  })

  const setCap = Effect.fn("Scheduler.setCap")(function*(command: Parameters<Scheduler["Service"]["setCap"]>[0]) {
    const lanes = yield* load({ lanes: [command] })
    const { state } = Decision.all(lanes, [command], Lanes.setCap)
    yield* save(state)
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
    yield* save(Loaded.fromState(yield* store.recount(groups), defaults))
    return groups.at(-1)
  }, atomically)

  const rebuild = Effect.gen(function*() {
    let after: GroupId | undefined = ""
    while (after !== undefined) after = yield* rebuildPage(after)
  }).pipe(Effect.withSpan("Scheduler.rebuild"))

  return Scheduler.of({
    load,
    save: Effect.fn("Scheduler.save")((lanes) => save(lanes)),
    enqueue: (command) => Effect.suspend(() => enqueueFolded(encoded(command))),
    cancel,
    settle,
    setCap,
    claim,
    heartbeat,
    checkpoint,
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

/** Provides a scheduler over a store, with options. */
export const layerWith = (
  options: SchedulerOptions
): Layer.Layer<Scheduler, never, SchedulerStore | UnitOfWork | Wakeup> => Layer.effect(Scheduler, make(options))

/** Provides a scheduler over a store. */
export const layer: Layer.Layer<Scheduler, never, SchedulerStore | UnitOfWork | Wakeup> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const groupsPerPage = 200
const driftsMax = 1_000

/** The group of each lane. Throws if a lane is given with two groups. */
const groupsOf = (addresses: ReadonlyArray<{ readonly lane: LaneId; readonly group: GroupId }>) => {
  const groups = new Map<LaneId, GroupId>()
  for (const { group, lane } of addresses) {
    const other = groups.get(lane)
    if (other !== undefined && other !== group) throw new Loaded.LaneMoved(lane, other, group)
    groups.set(lane, group)
  }
  return groups
}

/** The command with its payload as JSON, so that commands of all kinds fold into one set. */
const encoded = <Payload>(command: Lanes.Enqueue<Payload>): Lanes.Enqueue<Schema.Json> => ({
  ...command,
  kind: { name: command.kind.name, encode: (json) => json, decode: (json) => json },
  payload: command.kind.encode(command.payload)
})

const termsOf = Effect.fnUntraced(function*({ kinds, lease, limit, worker }: ClaimOptions) {
  const now = yield* DateTime.now
  return { worker, kinds, limit, now, until: DateTime.addDuration(now, lease) }
})
