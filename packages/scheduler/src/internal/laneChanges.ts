/** The changes that save decided lanes, and the shares of the jobs that get slots. Pure. */
import { HashMap } from "effect"
import type { NewDelayed, Postponed } from "./delays.ts"
import type { JobId, LaneId } from "./ids.ts"
import {
  type GroupCounters,
  type JobPlace,
  laneById,
  type LaneCounters,
  type LoadedLane,
  type LoadedLanes,
  type NewJob,
  promoted
} from "./loadedLanes.ts"
import { aheadMax, type Restamp, shareOf } from "./shares.ts"

/** Counters before and after. */
interface Change<Counters> {
  readonly before: Counters
  readonly after: Counters
}

/** Changes between the loaded and the decided lanes. A store applies them in this order. */
export interface LanesChanges {
  /** Jobs to delete, as they were loaded. */
  readonly ended: ReadonlyArray<JobPlace>
  /** Jobs to insert, in the order in which they were enqueued. */
  readonly enqueued: ReadonlyArray<PlacedJob>
  readonly groups: ReadonlyArray<Change<GroupCounters>>
  readonly lanes: ReadonlyArray<Change<LaneCounters>>
  /** Lanes in which stored jobs that stay queued get other shares. */
  readonly restamped: ReadonlyArray<Restamp>
  readonly promotions: ReadonlyArray<Promotion>
  /** Running jobs that failed and become delayed. */
  readonly retried: ReadonlyArray<Retried>
  /** Delayed jobs to insert. */
  readonly delayed: ReadonlyArray<NewDelayed>
  /** Delayed jobs that are tried again later. */
  readonly postponed: ReadonlyArray<Postponed>
}

/** A running job, as it was loaded, and the milliseconds after which it is due again. */
export interface Retried extends JobPlace {
  readonly millis: number
}

/** No changes, for those that have some of them only. */
export const noChanges: LanesChanges = {
  ended: [],
  enqueued: [],
  groups: [],
  lanes: [],
  restamped: [],
  promotions: [],
  retried: [],
  delayed: [],
  postponed: []
}

/** A job to insert, and its share (`internal/shares.ts`). 0 if it is pending. */
export interface PlacedJob extends NewJob {
  readonly share: number
}

/** A number of pending jobs of a lane that get a slot. The store selects them: those that a worker claims first, each by priority. */
export interface Promotion {
  readonly lane: LaneId
  readonly count: number
  /** Stored jobs of the lane that hold a slot already. */
  readonly ahead: number
  readonly weight: number
  /** Jobs that were enqueued into a slot of the lane in the same unit. They queue behind the promoted ones. */
  readonly beside: ReadonlyArray<JobId>
}

/** Everything that was decided since the lanes were loaded. */
export const changesOf = (self: LoadedLanes): LanesChanges => {
  const jobs = HashMap.toValues(self.jobs)
  const lanes = HashMap.toValues(self.lanes)
  const added = jobs.flatMap((entry) => entry.added ?? []).toSorted((a, b) => a.order - b.order).map(({ job }) => job)
  const changed = jobs.flatMap(({ current, retry, stored }) =>
    stored === undefined || stored === current ? [] : [{ stored, retry }]
  )
  const ended = changed.flatMap(({ retry, stored }) => retry === undefined ? [stored] : [])
  const delayed = jobs.flatMap((entry) => entry.delayed ?? [])
  // Written also if their counters are the same, so that a transaction whose snapshot does not have the holder of a key, which it
  // would accept again, cannot lock the group.
  const keyed = new Set(
    [...added, ...delayed].filter(({ uniqueKey }) => uniqueKey !== undefined).map(({ group }) => group)
  )
  const queuedIn = Map.groupBy(added.filter(({ state }) => state === "queued"), ({ lane }) => lane)
  const touched = new Set([...added, ...changed.map(({ stored }) => stored)].map(({ lane }) => lane))
  /** Stored jobs of a lane that keep their slots. */
  const aheadIn = ({ held, lane }: LoadedLane) => held - (queuedIn.get(lane)?.length ?? 0)
  return {
    ended,
    enqueued: placed(added, (lane) => aheadIn(laneById(self, lane)), (lane) => laneById(self, lane).weight),
    groups: HashMap.toValues(self.groups)
      .filter(({ group, stored, waiting }) => waiting !== stored.waiting || keyed.has(group))
      .map(({ group, stored, waiting }) => ({ before: stored, after: { group, waiting } })),
    // Written also if their counters are the same, so that a job that ends in one statement looks for the jobs of its lane again.
    lanes: lanes
      .map((lane) => ({ before: lane.stored, after: countersOf(lane) }))
      .filter((change) => isChanged(change) || touched.has(change.after.lane)),
    restamped: lanes
      .filter((lane) =>
        aheadIn(lane) > 0 && (lane.weight !== lane.stored.weight || hasFreed(lane, changed.map(({ stored }) => stored)))
      )
      .map(({ lane, stored, weight }) => ({
        lane,
        weight,
        limit: weight === stored.weight ? aheadMax : undefined
      })),
    promotions: lanes.filter((lane) => promoted(lane) > 0).map((lane) => ({
      lane: lane.lane,
      count: promoted(lane),
      ahead: aheadIn(lane),
      weight: lane.weight,
      beside: (queuedIn.get(lane.lane) ?? []).map(({ job }) => job)
    })),
    retried: changed.flatMap(({ retry, stored }) => retry === undefined ? [] : [{ ...stored, millis: retry }]),
    delayed,
    postponed: self.postponed
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const countersOf = (lane: LoadedLane): LaneCounters => {
  const held = lane.held + promoted(lane)
  return {
    lane: lane.lane,
    group: lane.group,
    cap: lane.cap,
    held,
    waiting: lane.waiting - promoted(lane),
    heldMax: Math.max(lane.cap, Math.min(held, lane.heldMax)),
    weight: lane.weight
  }
}

/** Returns whether a slot of the lane was freed. */
const hasFreed = ({ lane }: LoadedLane, ended: ReadonlyArray<JobPlace>): boolean =>
  ended.some((job) => job.lane === lane && (job.state === "queued" || job.state === "running"))

/** The jobs with their shares: each queued one is behind the stored jobs of its lane, and those that were added before it. */
const placed = (
  added: ReadonlyArray<NewJob>,
  aheadIn: (lane: LaneId) => number,
  weightOf: (lane: LaneId) => number
): ReadonlyArray<PlacedJob> => {
  const queued = new Map<LaneId, number>()
  return added.map((job) => {
    if (job.state === "pending") return { ...job, share: 0 }
    const before = queued.get(job.lane) ?? 0
    queued.set(job.lane, before + 1)
    return { ...job, share: shareOf(aheadIn(job.lane) + before, weightOf(job.lane)) }
  })
}

const isChanged = ({ after, before }: Change<LaneCounters>): boolean =>
  after.cap !== before.cap || after.held !== before.held || after.waiting !== before.waiting ||
  after.heldMax !== before.heldMax || after.weight !== before.weight
