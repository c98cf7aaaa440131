/**
 * The rules of lanes: who gets a slot, who waits, who is refused. Pure; the stores
 * load a `LanesState`, and apply the `LanesChanges` that came of it.
 *
 * A lane has `cap` slots. A job that is queued or running holds one; the others wait
 * in their order. Two things are always true of what is saved: `held` exceeds `cap`
 * only after the cap was lowered, and nobody waits while a slot is free.
 */
import type { Proposal } from "@kinora/persistence/Proposal"
import { Duration, Result, type Schema } from "effect"
import type { GroupId, JobAddress, JobId, JobState, LaneId, Lease } from "./Job.ts"
import type { JobKind } from "./JobKind.ts"
import { AlreadyRunning, LeaseLost, NotFound, QueueFull } from "./SchedulerError.ts"

/** Puts a job into a lane. */
export interface Enqueue<Payload> extends JobAddress {
  readonly kind: JobKind<Payload>
  readonly payload: Payload
  /** Slots of the lane from now on: whoever enqueues says what the lane's plan is today. */
  readonly cap: number
  /** How many jobs of the whole group may wait. Default: the scheduler's, 20. */
  readonly waitingMax?: number | undefined
  /** How often it may be claimed before it is handed out only to be failed. Default: the scheduler's, 3. */
  readonly attemptsMax?: number | undefined
  /** How long after its first start it may run, over all attempts. Default: as long as it likes. */
  readonly timeLimit?: Duration.Input | undefined
}

/** Where an enqueued job went. It may have been promoted by the time of `save`, which then names it. */
export interface Enqueued extends JobAddress {
  readonly state: "pending" | "queued"
}

/** A job that is no more. */
export interface Ended extends JobAddress {
  /** How it stood before. */
  readonly state: JobState
}

/** Changes the slots of a lane. Lowering it takes no slot from those that hold one. */
export interface SetCap {
  readonly lane: LaneId
  readonly cap: number
}

/** What a job gets when the command does not say. */
export interface EnqueueDefaults {
  readonly waitingMax: number
  readonly attemptsMax: number
}

/** A lane's counters. */
export interface LaneCounters {
  readonly lane: LaneId
  readonly group: GroupId
  readonly cap: number
  /** Jobs that are queued or running. */
  readonly held: number
  /** Jobs that are pending. */
  readonly waiting: number
}

/** A group's counter: the pending jobs of all its lanes. */
export interface GroupCounters {
  readonly group: GroupId
  readonly waiting: number
}

/** What `open` knows of a job. */
export interface JobPlace extends JobAddress, Lease {
  readonly state: JobState
}

/** What a set of commands is decided on, locked until the unit ends. */
export interface LanesState {
  readonly groups: ReadonlyArray<GroupCounters>
  readonly lanes: ReadonlyArray<LaneCounters>
  /** The jobs that were asked for and exist. */
  readonly jobs: ReadonlyArray<JobPlace>
}

/** A job to be stored. */
export interface NewJob extends JobAddress {
  readonly kind: string
  readonly payload: Schema.Json
  readonly state: "pending" | "queued"
  readonly attemptsMax: number
  /** Milliseconds. */
  readonly timeLimit: number | undefined
}

/** What the kept proposals come to, counters as they are afterwards. Apply in this order. */
export interface LanesChanges {
  readonly ended: ReadonlyArray<JobId>
  readonly enqueued: ReadonlyArray<NewJob>
  readonly groups: ReadonlyArray<GroupCounters>
  readonly lanes: ReadonlyArray<LaneCounters>
  readonly promotions: ReadonlyArray<Promotion>
}

/** Pending jobs of a lane that get a slot, oldest first. Which ones, the store finds out. */
export interface Promotion {
  readonly lane: LaneId
  readonly count: number
  /**
   * Jobs of the lane that were enqueued into a slot in the same unit. They stand in
   * line with the promoted ones by age, not before them.
   */
  readonly beside: ReadonlyArray<JobId>
}

/** Open lanes: propose, keep or drop, propose the next, and save the changes at the end. */
export class Lanes {
  private readonly groups: ReadonlyMap<GroupId, OpenGroup>
  private readonly lanes: ReadonlyMap<LaneId, OpenLane>
  private readonly jobs: Map<JobId, JobPlace>
  private readonly ended: Array<JobId> = []
  private readonly enqueued = new Map<JobId, NewJob>()
  private readonly defaults: EnqueueDefaults

  constructor(state: LanesState, defaults: EnqueueDefaults) {
    const groups = new Map(state.groups.map(({ group, waiting }) => [group, new OpenGroup(group, waiting)]))
    this.lanes = new Map(state.lanes.map((counters) => [
      counters.lane,
      new OpenLane(counters, existing(groups, counters.group, "group"))
    ]))
    this.groups = groups
    this.jobs = new Map(state.jobs.map((job) => [job.job, job]))
    this.defaults = defaults
  }

  /** Gives the job a slot if one is free and nobody waits for it, else a place in the queue if there is room. */
  enqueue<Payload>(command: Enqueue<Payload>): Result.Result<Proposal<Enqueued>, QueueFull> {
    const { cap, group, job, lane } = command
    const open = existing(this.lanes, lane, "lane")
    const state = open.hasRoom(cap) ? "queued" : "pending"
    const max = command.waitingMax ?? this.defaults.waitingMax
    // What waits in the group is counted as it will be under the new cap.
    const waiting = open.group.waitingWith(open, cap)
    if (state === "pending" && waiting >= max) return Result.fail(new QueueFull({ group, waiting, max }))
    const stored: NewJob = {
      job,
      lane,
      group,
      kind: command.kind.name,
      payload: command.kind.encode(command.payload),
      state,
      attemptsMax: command.attemptsMax ?? this.defaults.attemptsMax,
      timeLimit: command.timeLimit === undefined ? undefined : Math.ceil(Duration.toMillis(command.timeLimit))
    }
    return propose({ job, lane, group, state }, () => {
      open.cap = cap
      open.add(state, 1)
      this.enqueued.set(job, stored)
      this.jobs.set(job, { job, lane, group, state, epoch: 0 })
    })
  }

  /**
   * Ends a job that no worker has started: cancelled by its owner, waiting for too
   * long, not wanted any more. The difference is the application's. One that was
   * started stays so while it waits for its next worker.
   */
  cancel(job: JobId): Result.Result<Proposal<Ended>, NotFound | AlreadyRunning> {
    const found = this.jobs.get(job)
    if (found === undefined) return Result.fail(new NotFound({ job }))
    if (found.epoch > 0) return Result.fail(new AlreadyRunning({ job }))
    return this.end(found)
  }

  /** Ends a running job under its lease. Completed or failed is the same to the scheduler. */
  settle(lease: Lease): Result.Result<Proposal<Ended>, LeaseLost> {
    const found = this.jobs.get(lease.job)
    if (found?.state !== "running" || found.epoch !== lease.epoch) {
      return Result.fail(new LeaseLost({ job: lease.job, epoch: lease.epoch }))
    }
    return this.end(found)
  }

  /** Sets the slots of a lane. Never refused. */
  setCap({ cap, lane }: SetCap): Result.Result<Proposal<SetCap>> {
    const open = existing(this.lanes, lane, "lane")
    return propose({ lane, cap }, () => {
      open.cap = cap
    })
  }

  /** What the kept proposals come to. `all` writes also the counters that are as they were loaded. */
  changes({ all = false } = {}): LanesChanges {
    const lanes = Array.from(this.lanes.values())
    const groups = Array.from(this.groups.values())
    const enqueued = Array.from(this.enqueued.values())
    return {
      ended: this.ended,
      enqueued,
      groups: groups.filter((group) => all || group.isChanged).map((group) => group.counters),
      lanes: lanes.filter((lane) => all || lane.isChanged).map((lane) => lane.counters),
      promotions: lanes.filter((lane) => lane.promoted > 0).map(({ lane, promoted }) => ({
        lane,
        count: promoted,
        beside: enqueued.filter((job) => job.lane === lane && job.state === "queued").map(({ job }) => job)
      }))
    }
  }

  private end({ group, job, lane, state }: JobPlace): Result.Result<Proposal<Ended>> {
    return propose({ job, lane, group, state }, () => {
      existing(this.lanes, lane, "lane").add(state, -1)
      this.jobs.delete(job)
      if (!this.enqueued.delete(job)) this.ended.push(job)
    })
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A lane while it is open. Promotion is not an event but what follows from the numbers, so it is never forgotten. */
class OpenLane {
  readonly lane: LaneId
  readonly group: OpenGroup
  cap: number
  /** As if nobody had been promoted since the lane was opened. */
  private held: number
  private waiting: number
  private readonly loaded: LaneCounters

  constructor(loaded: LaneCounters, group: OpenGroup) {
    this.lane = loaded.lane
    this.group = group
    this.cap = loaded.cap
    this.held = loaded.held
    this.waiting = loaded.waiting
    this.loaded = loaded
    group.lanes.push(this)
  }

  /** How many of those that wait have a slot with this many slots in the lane. */
  promotedWith(cap: number): number {
    return Math.min(this.waiting, Math.max(0, cap - this.held))
  }

  get promoted(): number {
    return this.promotedWith(this.cap)
  }

  /** Whether a newcomer gets a slot without overtaking anybody. */
  hasRoom(cap: number): boolean {
    return this.held + this.waiting < cap
  }

  add(state: JobState, count: 1 | -1): void {
    if (state === "pending") {
      this.waiting += count
      this.group.waiting += count
    } else {
      this.held += count
    }
  }

  get counters(): LaneCounters {
    const { cap, held, lane, promoted, waiting } = this
    return { lane, group: this.group.group, cap, held: held + promoted, waiting: waiting - promoted }
  }

  get isChanged(): boolean {
    const { cap, held, waiting } = this.counters
    return cap !== this.loaded.cap || held !== this.loaded.held || waiting !== this.loaded.waiting
  }
}

class OpenGroup {
  readonly group: GroupId
  readonly lanes: Array<OpenLane> = []
  /** As if nobody had been promoted since the group was opened. */
  waiting: number
  private readonly loaded: number

  constructor(group: GroupId, waiting: number) {
    this.group = group
    this.waiting = waiting
    this.loaded = waiting
  }

  /** How many wait if `lane` had this many slots. */
  waitingWith(lane: OpenLane, cap: number): number {
    let waiting = this.waiting
    for (const other of this.lanes) waiting -= other === lane ? lane.promotedWith(cap) : other.promoted
    return waiting
  }

  get counters(): GroupCounters {
    let waiting = this.waiting
    for (const lane of this.lanes) waiting -= lane.promoted
    return { group: this.group, waiting }
  }

  get isChanged(): boolean {
    return this.counters.waiting !== this.loaded
  }
}

const propose = <A>(value: A, keep: () => void): Result.Result<Proposal<A>> => Result.succeed({ value, keep })

/** What was not opened cannot be decided on: a mistake of the caller. */
const existing = <K, V>(map: ReadonlyMap<K, V>, key: K, what: string): V => {
  const value = map.get(key)
  if (value === undefined) throw new Error(`The ${what} ${String(key)} was not opened`)
  return value
}
