/** Groups, lanes and jobs in memory, with an index of jobs per state. */
import type { MemoryBackend, MemoryMap } from "@kinora/persistence/UnitOfWork"
import type { StoredDelayed } from "../delays.ts"
import type { GroupId, JobId, LaneId } from "../ids.ts"
import type { StoredJob } from "../leases.ts"
import type { GroupCounters, LaneCounters } from "../loadedLanes.ts"
import type { HandledSchedule } from "../ticks.ts"
import type { StoredWorker } from "../workers.ts"

/** The tables of the memory store. */
export interface Tables {
  readonly groups: MemoryMap<GroupId, GroupCounters>
  readonly lanes: MemoryMap<LaneId, LaneCounters>
  readonly jobs: Pick<MemoryMap<JobId, StoredJob>, "get" | "has" | "values">
  readonly queued: Pick<MemoryMap<JobId, StoredJob>, "values">
  readonly running: Pick<MemoryMap<JobId, StoredJob>, "values">
  /** Jobs that are not due yet. */
  readonly delayed: MemoryMap<JobId, StoredDelayed>
  /** The jobs that hold unique keys, by `idOf`. */
  readonly keys: MemoryMap<string, JobId>
  /** By name. */
  readonly schedules: MemoryMap<string, HandledSchedule>
  /** By id. */
  readonly workers: MemoryMap<string, StoredWorker>
  readonly pendingIn: (lane: LaneId) => Pick<MemoryMap<JobId, StoredJob>, "values">
  /** Queued and running jobs of a lane. */
  readonly heldIn: (lane: LaneId) => Pick<MemoryMap<JobId, StoredJob>, "values">
  /** Inserts or replaces a job. */
  readonly put: (job: StoredJob) => void
  /** Deletes a job. */
  readonly remove: (job: JobId) => void
  /** Draws the next position. Like a sequence of a database, it is not undone with the unit. */
  readonly nextPosition: () => number
}

/** Creates empty tables. */
export const make = ({ makeMap }: MemoryBackend["Service"]): Tables => {
  const jobs = makeMap<JobId, StoredJob>()
  // An index per state, so that the cost of a claim does not depend on the jobs that wait for a slot.
  const pendingIn = byLane(makeMap)
  const heldIn = byLane(makeMap)
  const queued = makeMap<JobId, StoredJob>()
  const running = makeMap<JobId, StoredJob>()
  let lastPosition = 0

  const indexesOf = ({ lane, state }: StoredJob) =>
    state === "pending" ? [pendingIn(lane)] : [heldIn(lane), state === "queued" ? queued : running]
  const remove = (job: JobId) => {
    const found = jobs.get(job)
    if (found !== undefined) { for (const index of indexesOf(found)) index.delete(job) }
    jobs.delete(job)
  }
  return {
    groups: makeMap(),
    lanes: makeMap(),
    jobs,
    queued,
    running,
    delayed: makeMap(),
    keys: makeMap(),
    schedules: makeMap(),
    workers: makeMap(),
    pendingIn,
    heldIn,
    put: (job) => {
      remove(job.job)
      jobs.set(job.job, job)
      for (const index of indexesOf(job)) index.set(job.job, job)
    },
    remove,
    nextPosition: () => ++lastPosition
  }
}

/** The ids of all groups. */
export const groupIds = ({ groups }: Tables): ReadonlyArray<GroupId> =>
  Array.from(groups.values(), ({ group }) => group)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A map of jobs per lane. */
const byLane = (makeMap: MemoryBackend["Service"]["makeMap"]) => {
  const maps = new Map<LaneId, MemoryMap<JobId, StoredJob>>()
  return (lane: LaneId) => {
    const found = maps.get(lane) ?? makeMap<JobId, StoredJob>()
    maps.set(lane, found)
    return found
  }
}
