/**
 * Compares the counters of groups and lanes with the jobs. The memory store runs these
 * functions; `internal/sql/audit.ts` states the same rules in SQL.
 */
import type { JobStatus } from "../Job.ts"
import type { LaneId } from "./ids.ts"
import type { GroupCounters, LaneCounters } from "./loadedLanes.ts"
import type { Drift } from "./storeTypes.ts"

/** Counters of groups and of all their lanes. */
export interface Counters {
  readonly groups: ReadonlyArray<GroupCounters>
  readonly lanes: ReadonlyArray<LaneCounters>
}

/** Counts the jobs of each lane and group. */
export const recount = (
  { groups, lanes }: Counters,
  jobs: Iterable<{ readonly lane: LaneId; readonly state: JobStatus["state"] }>
): Counters => {
  const held = new Map<LaneId, number>()
  const waiting = new Map<LaneId, number>()
  for (const { lane, state } of jobs) {
    const counts = state === "pending" ? waiting : held
    counts.set(lane, (counts.get(lane) ?? 0) + 1)
  }
  const counted = lanes.map((lane): LaneCounters => {
    const found = held.get(lane.lane) ?? 0
    return { ...lane, held: found, waiting: waiting.get(lane.lane) ?? 0, heldMax: Math.max(lane.cap, found) }
  })
  const waitingIn = new Map(groups.map(({ group }) => [group, 0]))
  for (const { group, waiting } of counted) waitingIn.set(group, (waitingIn.get(group) ?? 0) + waiting)
  return { groups: Array.from(waitingIn, ([group, waiting]) => ({ group, waiting })), lanes: counted }
}

/** Differences between stored and counted counters, ordered by `of`, `id` and `counter`. */
export const drifts = (stored: Counters, counted: Counters): ReadonlyArray<Drift> => {
  const lanes = new Map(counted.lanes.map((lane) => [lane.lane, lane]))
  const groups = new Map(counted.groups.map((group) => [group.group, group]))
  const ofLanes = stored.lanes.flatMap(({ cap, held, heldMax: stored, lane, waiting }): ReadonlyArray<Drift> => {
    const found = lanes.get(lane)
    // A host of an earlier build raises the cap without `heldMax`.
    const heldMax = Math.max(stored, cap)
    return [
      { of: "lane", id: lane, counter: "held", stored: held, found: found?.held ?? 0 },
      { of: "lane", id: lane, counter: "heldMax", stored: heldMax, found: Math.max(heldMax, found?.held ?? 0) },
      { of: "lane", id: lane, counter: "waiting", stored: waiting, found: found?.waiting ?? 0 }
    ]
  })
  const ofGroups = stored.groups.map(({ group, waiting }): Drift => ({
    of: "group",
    id: group,
    counter: "waiting",
    stored: waiting,
    found: groups.get(group)?.waiting ?? 0
  }))
  return [...ofGroups, ...ofLanes].filter(({ found, stored }) => found !== stored)
    .toSorted((a, b) => compare(a.of, b.of) || compare(a.id, b.id) || compare(a.counter, b.counter))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** By UTF-16 code units, like the "C" collation of the tables for ASCII. */
const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0
