/** Forgets groups in memory. */
import type { JobAddress } from "../../Job.ts"
import type { GroupId, LaneId } from "../ids.ts"
import type { GroupJobs } from "../storeTypes.ts"
import type { Tables } from "./tables.ts"

/** Finds jobs of a group: per lane, delayed ones, pending ones, those that hold a slot. */
export const jobsOf = (tables: Tables, { group, limit, running }: GroupJobs): ReadonlyArray<JobAddress> =>
  lanesOf(tables, group)
    .flatMap((lane) => [
      ...Array.from(tables.delayed.values()).filter((job) => job.lane === lane),
      ...tables.pendingIn(lane).values(),
      ...Array.from(tables.heldIn(lane).values()).filter(({ state }) => running || state !== "running")
    ])
    .slice(0, limit)
    .map(({ job, lane }) => ({ job, lane, group }))

/** Deletes lanes without jobs, and the group without lanes. Returns the number of lanes. */
export const forgetLanes = (tables: Tables, group: GroupId, limit: number): number => {
  const used = new Set(jobsOf(tables, { group, limit: Infinity, running: true }).map(({ lane }) => lane))
  const empty = lanesOf(tables, group).filter((lane) => !used.has(lane)).slice(0, limit)
  for (const lane of empty) tables.lanes.delete(lane)
  if (lanesOf(tables, group).length === 0) tables.groups.delete(group)
  return empty.length
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const lanesOf = ({ lanes }: Tables, group: GroupId): ReadonlyArray<LaneId> =>
  Array.from(lanes.values()).filter((lane) => lane.group === group).map(({ lane }) => lane).toSorted()
