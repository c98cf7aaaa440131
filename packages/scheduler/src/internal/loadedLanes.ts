/**
 * The state that lanes are decided on: an immutable map of groups, of lanes, and of jobs.
 * A decision replaces the entries of one lane and shares the others.
 */
import { HashMap, Option, type Schema } from "effect"
import type { JobAddress, JobStatus, Lease } from "../Job.ts"
import type { NewDelayed, Postponed } from "./delays.ts"
import { type GroupId, isUuid, type JobId, type LaneId } from "./ids.ts"
import { type HeldKey, idOf, type UniqueKey } from "./uniqueKeys.ts"

/** Loaded groups, lanes and jobs. */
export interface LoadedLanes {
  readonly groups: HashMap.HashMap<GroupId, LoadedGroup>
  readonly lanes: HashMap.HashMap<LaneId, LoadedLane>
  readonly jobs: HashMap.HashMap<JobId, LoadedJob>
  /** Holders of unique keys, by `idOf`. */
  readonly keys: HashMap.HashMap<string, JobId | undefined>
  readonly defaults: EnqueueDefaults
  /** Number of jobs that were added, which orders them. */
  readonly added: number
  /** Delayed jobs that stay delayed although they are due. */
  readonly postponed: ReadonlyArray<Postponed>
}

/** Values that an enqueued job gets if the command omits them. */
export interface EnqueueDefaults {
  readonly waitingMax: number
  readonly attemptsMax: number
}

/** Counters of a lane. */
export interface LaneCounters {
  readonly lane: LaneId
  readonly group: GroupId
  readonly cap: number
  /** Queued and running jobs. */
  readonly held: number
  /** Pending jobs. */
  readonly waiting: number
  /** Maximum that `held` can have: the cap, or the slots that stayed held when the cap was lowered. */
  readonly heldMax: number
  /** Share of the lane in the workers, relative to other lanes. */
  readonly weight: number
}

/** Counter of a group: the pending jobs of all its lanes. */
export interface GroupCounters {
  readonly group: GroupId
  readonly waiting: number
}

/** A job and its state. */
export interface JobPlace extends JobAddress, Lease {
  readonly state: JobStatus["state"]
  readonly uniqueKey: string | undefined
}

/** A group, and its counter in the store. */
interface LoadedGroup extends GroupCounters {
  readonly stored: GroupCounters
}

/**
 * A lane, and its counters in the store. `held` and `waiting` count as if no job had been
 * promoted since the lane was loaded, since promotion follows from the counters.
 * `heldMax` is the highest that it was since then.
 */
export interface LoadedLane extends LaneCounters {
  readonly stored: LaneCounters
}

/** A job: its row in the store, its current place, and the row to insert. */
export interface LoadedJob {
  readonly stored: JobPlace | undefined
  readonly current: JobPlace | undefined
  readonly added: { readonly job: NewJob; readonly order: number } | undefined
  /** The delayed row to insert. */
  readonly delayed: NewDelayed | undefined
  /** Milliseconds after which a stored job that failed is due again. */
  readonly retry?: number | undefined
}

/** A job to insert. */
export interface NewJob extends JobAddress, Lease {
  readonly kind: string
  readonly priority: number
  readonly payload: Schema.Json
  readonly state: "pending" | "queued"
  readonly attemptsMax: number
  /** Milliseconds. */
  readonly timeLimit: number | undefined
  readonly checkpoint: Option.Option<Schema.Json>
  /** Runs that failed. */
  readonly failures: number
  readonly uniqueKey: string | undefined
}

/** A set of lanes as a store reads it. */
export interface LanesState {
  readonly groups: ReadonlyArray<GroupCounters>
  readonly lanes: ReadonlyArray<LaneCounters>
  /** The requested jobs that exist. */
  readonly jobs: ReadonlyArray<JobPlace>
  /** The requested keys. */
  readonly keys?: ReadonlyArray<HeldKey>
  /** Counters as they were counted from the jobs, if they were. */
  readonly recount?: { readonly groups: ReadonlyArray<GroupCounters>; readonly lanes: ReadonlyArray<LaneCounters> }
}

/** Creates lanes from the state that a store has read. */
export const fromState = (
  { groups, jobs, keys = [], lanes, recount }: LanesState,
  defaults: EnqueueDefaults
): LoadedLanes => {
  const counted = recount ?? { groups, lanes }
  const storedLanes = new Map(lanes.map((lane) => [lane.lane, lane]))
  const storedGroups = new Map(groups.map((group) => [group.group, group]))
  const promotedIn = new Map<GroupId, number>()
  for (const lane of counted.lanes) promotedIn.set(lane.group, (promotedIn.get(lane.group) ?? 0) + promoted(lane))
  return {
    groups: HashMap.fromIterable(counted.groups.map((group) => [group.group, {
      group: group.group,
      waiting: group.waiting - (promotedIn.get(group.group) ?? 0),
      stored: storedGroups.get(group.group) ?? group
    }])),
    lanes: HashMap.fromIterable(
      counted.lanes.map((lane) => [lane.lane, { ...lane, stored: storedLanes.get(lane.lane) ?? lane }])
    ),
    jobs: HashMap.fromIterable(jobs.map((job) => [
      job.job,
      { stored: job, current: job, added: undefined, delayed: undefined }
    ])),
    keys: HashMap.fromIterable(keys.map((key) => [idOf(key), key.job])),
    defaults,
    added: 0,
    postponed: []
  }
}

/** The counters of a lane that does not exist. */
export const emptyLane = (lane: LaneId, group: GroupId): LaneCounters => ({
  lane,
  group,
  cap: 0,
  held: 0,
  waiting: 0,
  heldMax: 0,
  weight: 1
})

/** The lane of an address. */
export const laneOf = (self: LoadedLanes, { group, lane }: JobAddress): LoadedLane => {
  const found = laneById(self, lane)
  if (found.group !== group) throw new LaneMoved(lane, found.group, group)
  return found
}

/** A loaded lane. Throws if it was not loaded, which is a bug of the caller. */
export const laneById = (self: LoadedLanes, lane: LaneId): LoadedLane => existing(self.lanes, lane, "lane")

/** A loaded or added job; `undefined` if it does not exist, or has ended. Postgres returns UUIDs in lower case. */
export const jobOf = (self: LoadedLanes, job: JobId): JobPlace | undefined =>
  (entryOf(self, job) ?? (isUuid(job) ? entryOf(self, job.toLowerCase()) : undefined))?.current

/** The job that holds a unique key, if there is one. Throws if the key was not loaded, which is a bug of the caller. */
export const holderOf = (self: LoadedLanes, key: UniqueKey): JobId | undefined =>
  existing(self.keys, idOf(key), "unique key")

/** Returns whether a new job gets a slot of the lane with this cap, without overtaking a waiting job. */
export const hasRoom = ({ held, waiting }: LoadedLane, cap: number): boolean => held + waiting < cap

/** Number of jobs that would wait in the lane's group if the lane had this cap. */
export const waitingWith = (self: LoadedLanes, lane: LoadedLane, cap: number): number =>
  existing(self.groups, lane.group, "group").waiting + promoted(lane) - promoted({ ...lane, cap })

/** The lane with one job more or less. */
export const count = (lane: LoadedLane, state: JobStatus["state"], change: 1 | -1): LoadedLane => {
  if (state === "delayed") return lane
  return state === "pending" ? { ...lane, waiting: lane.waiting + change } : { ...lane, held: lane.held + change }
}

/** Number of waiting jobs of the lane that get a slot when the lanes are saved. */
export const promoted = ({ cap, held, waiting }: Pick<LaneCounters, "cap" | "held" | "waiting">): number =>
  Math.min(waiting, Math.max(0, cap - held))

/** Replaces a lane, and updates the counter of its group. */
export const setLane = (self: LoadedLanes, before: LoadedLane, after: LoadedLane): LoadedLanes => {
  const change = (after.waiting - promoted(after)) - (before.waiting - promoted(before))
  return {
    ...self,
    lanes: HashMap.set(self.lanes, after.lane, { ...after, heldMax: Math.max(after.heldMax, before.cap, after.cap) }),
    groups: change === 0 ? self.groups : addWaiting(self.groups, after.group, change)
  }
}

/**
 * Sets the number of slots of a lane, and its weight if it is given. A higher cap promotes
 * waiting jobs; a lower one takes no slot from the jobs that hold one.
 */
export const setCap = <Lanes extends LoadedLanes>(
  lanes: Lanes,
  { cap, lane, weight }: { readonly lane: LaneId; readonly cap: number; readonly weight?: number | undefined }
): Lanes => {
  const before = laneById(lanes, lane)
  return { ...lanes, ...setLane(lanes, before, { ...before, cap, weight: weight ?? before.weight }) }
}

/** Adds a job. Throws if the lanes have it already. */
export const addJob = (self: LoadedLanes, job: NewJob): LoadedLanes => {
  const added = { job, order: self.added }
  return { ...addEntry(self, job, { added, delayed: undefined }), added: self.added + 1 }
}

/** Adds a delayed job. Throws if the lanes have it already. */
export const addDelayed = (self: LoadedLanes, job: NewDelayed): LoadedLanes =>
  addEntry(self, { ...job, state: "delayed" }, { added: undefined, delayed: job })

/** Delays a stored job that failed, so that it runs again. */
export const retryJob = (self: LoadedLanes, place: JobPlace, millis: number): LoadedLanes => {
  const current: JobPlace = { ...place, state: "delayed" }
  const entry: LoadedJob = { stored: place, current, added: undefined, delayed: undefined, retry: millis }
  return { ...self, jobs: HashMap.set(self.jobs, place.job, entry) }
}

/** Leaves a due job delayed, and tries it again later. */
export const postpone = (self: LoadedLanes, job: Postponed): LoadedLanes => ({
  ...self,
  postponed: [...self.postponed, job]
})

/** Removes a job. */
export const removeJob = (self: LoadedLanes, job: JobId): LoadedLanes => {
  const { current, stored } = entryOf(self, job) ?? {}
  const jobs = stored === undefined
    ? HashMap.remove(self.jobs, job)
    : HashMap.set(self.jobs, job, { stored, current: undefined, added: undefined, delayed: undefined })
  return { ...self, jobs, keys: setHolder(self, current, undefined) }
}

/** A lane cannot move to another group, since the counter of the group would become wrong. */
export class LaneMoved extends Error {
  override readonly name = "LaneMoved"
  constructor(lane: LaneId, from: GroupId, to: GroupId) {
    super(`The lane ${lane} belongs to the group ${from}, not to ${to}`)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const entryOf = (self: LoadedLanes, job: JobId): LoadedJob | undefined =>
  Option.getOrUndefined(HashMap.get(self.jobs, job))

const addEntry = (
  self: LoadedLanes,
  { epoch, group, job, lane, state, uniqueKey }: JobPlace,
  row: Pick<LoadedJob, "added" | "delayed">
): LoadedLanes => {
  const entry = entryOf(self, job)
  if (entry?.current !== undefined) throw new Error(`The job ${job} exists already`)
  const current = { job, lane, group, state, epoch, uniqueKey }
  const jobs = HashMap.set(self.jobs, job, { stored: entry?.stored, current, ...row })
  return { ...self, jobs, keys: setHolder(self, current, job) }
}

/** Sets the holder of the key of a job, if it has one. */
const setHolder = (
  { keys }: LoadedLanes,
  place: JobPlace | undefined,
  holder: JobId | undefined
): LoadedLanes["keys"] =>
  place?.uniqueKey === undefined ? keys : HashMap.set(keys, idOf({ group: place.group, key: place.uniqueKey }), holder)

const addWaiting = (groups: LoadedLanes["groups"], group: GroupId, change: number): LoadedLanes["groups"] => {
  const found = existing(groups, group, "group")
  return HashMap.set(groups, group, { ...found, waiting: found.waiting + change })
}

const existing = <V>(map: HashMap.HashMap<string, V>, key: string, what: string): V => {
  const found = HashMap.get(map, key)
  if (Option.isNone(found)) throw new Error(`The ${what} ${key} was not loaded`)
  return found.value
}
