/** Groups, lanes and jobs in memory, with an index of jobs per state. */
import type { MemoryBackend, MemoryMap } from "@kinora/persistence/UnitOfWork"
import type { GroupId, JobId, LaneId } from "../ids.ts"
import type { StoredJob } from "../leases.ts"
import type { GroupCounters, LaneCounters } from "../loadedLanes.ts"
import type { StoredWorker } from "../workers.ts"

/** The tables of the memory store. */
export interface Tables {
  readonly groups: MemoryMap<GroupId, GroupCounters>
  readonly lanes: MemoryMap<LaneId, LaneCounters>
  readonly jobs: Pick<MemoryMap<JobId, StoredJob>, "get" | "has" | "values">
  readonly queued: Pick<MemoryMap<JobId, StoredJob>, "values">
  readonly running: Pick<MemoryMap<JobId, StoredJob>, "values">
  /** By id. */
  readonly workers: MemoryMap<string, StoredWorker>
  readonly pendingIn: (lane: LaneId) => Pick<MemoryMap<JobId, StoredJob>, "values">
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
  const pending = new Map<LaneId, MemoryMap<JobId, StoredJob>>()
  const queued = makeMap<JobId, StoredJob>()
  const running = makeMap<JobId, StoredJob>()
  let lastPosition = 0

  const pendingIn = (lane: LaneId) => {
    const found = pending.get(lane) ?? makeMap<JobId, StoredJob>()
    pending.set(lane, found)
    return found
  }
  const indexOf = ({ lane, state }: StoredJob) =>
    state === "pending" ? pendingIn(lane) : state === "queued" ? queued : running
  const remove = (job: JobId) => {
    const found = jobs.get(job)
    if (found !== undefined) indexOf(found).delete(job)
    jobs.delete(job)
  }
  return {
    groups: makeMap(),
    lanes: makeMap(),
    jobs,
    queued,
    running,
    workers: makeMap(),
    pendingIn,
    put: (job) => {
      remove(job.job)
      jobs.set(job.job, job)
      indexOf(job).set(job.job, job)
    },
    remove,
    nextPosition: () => ++lastPosition
  }
}

/** The ids of all groups. */
export const groupIds = ({ groups }: Tables): ReadonlyArray<GroupId> =>
  Array.from(groups.values(), ({ group }) => group)
