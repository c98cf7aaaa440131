/** Loads lanes into a unit of work, and saves what it decided. */
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect } from "effect"
import type * as Lanes from "../Lanes.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import { makeAnnounce } from "./announce.ts"
import type { GroupId, LaneId } from "./ids.ts"
import * as KindName from "./kindName.ts"
import { changesOf } from "./laneChanges.ts"
import * as Loaded from "./loadedLanes.ts"
import type { LoadRequest } from "./requests.ts"
import type { JobSlot, WantedLane } from "./storeTypes.ts"
import { idOf, keyOf, type UniqueKey } from "./uniqueKeys.ts"

/** Creates `Scheduler.load`. */
export const makeLoad = Effect.fnUntraced(function*(defaults: Loaded.EnqueueDefaults) {
  const { isOpen } = yield* UnitOfWork
  const store = yield* SchedulerStore

  return Effect.fn("Scheduler.load")(function*({ jobs = [], lanes = [] }: LoadRequest) {
    // Outside of a unit the locks would end before anything is decided.
    if (!(yield* isOpen)) return yield* Effect.die(new Error("Scheduler.load was called outside of a unit of work"))
    const wanted = lanesOf(lanes, jobs)
    const state = yield* store.load({
      groups: Array.from(new Set(wanted.map(({ group }) => group))),
      lanes: wanted,
      jobs: Array.from(new Set(jobs.map(({ job }) => job))),
      keys: keysOf(lanes)
    })
    const loaded: Lanes.Lanes = Loaded.fromState({ ...state, lanes: lanesOfGroups(state.lanes, wanted) }, defaults)
    return loaded
  })
})

/** Creates `Scheduler.save`. */
export const makeSave = Effect.map(
  Effect.suspend(() => makeSaveAndClaim),
  (save) => (lanes: Lanes.Lanes) => Effect.map(save(lanes), ({ promoted }) => ({ promoted }))
)

/** Creates an operation that saves lanes, and leases the job of `slot` to its worker. Returns the job if the lease holds. */
export const makeSaveAndClaim = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const announce = yield* makeAnnounce

  // Changes take several statements. A nested unit that fails dooms the whole one, so a caller
  // that recovers cannot commit a part of them.
  return Effect.fn("Scheduler.save")(function*(lanes: Lanes.Lanes, slot?: JobSlot) {
    const changes = changesOf(lanes)
    const applied = yield* store.apply(changes, slot)
    const { handed, promoted, restamped } = applied
    // A claim skips jobs that are restamped meanwhile, and needs a wake-up to find them.
    const stored = promoted.length > 0 || restamped > 0 ? applied.kinds : []
    const added = changes.enqueued.filter(({ job, state }) => state === "queued" && job !== handed?.job)
    // A delayed job may be the next one that is due.
    const delayed = changes.delayed.length + changes.retried.length > 0 ? [KindName.delayed] : []
    const ready = stored && [...stored, ...added.map(({ kind }) => kind), ...delayed]
    if (ready === undefined || ready.length > 0) yield* announce(ready)
    return { promoted, handed }
  }, atomically)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The lanes that are named, and those of jobs. */
const lanesOf = (
  lanes: NonNullable<LoadRequest["lanes"]>,
  jobs: NonNullable<LoadRequest["jobs"]>
): ReadonlyArray<WantedLane> => {
  const named = groupsOf(lanes)
  const others = jobs.filter(({ group, lane }) => named.get(lane) !== group).map(({ group, lane }) =>
    [`${lane.length}:${lane}${group}`, { lane, group, isCreated: false }] as const
  )
  return [...Array.from(named, ([lane, group]) => ({ lane, group, isCreated: true })), ...new Map(others).values()]
}

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

/**
 * The stored lanes that have the wanted groups. Throws if a lane that is named belongs to another group. A lane that was forgotten
 * can belong to another group than that of a late job, which is left out.
 */
const lanesOfGroups = (
  lanes: ReadonlyArray<Loaded.LaneCounters>,
  wanted: ReadonlyArray<WantedLane>
): ReadonlyArray<Loaded.LaneCounters> => {
  const byLane = Map.groupBy(wanted, ({ lane }) => lane)
  return lanes.filter(({ group, lane }) => {
    const entries = byLane.get(lane) ?? []
    const named = entries.find(({ isCreated }) => isCreated)
    if (named !== undefined && named.group !== group) throw new Loaded.LaneMoved(lane, group, named.group)
    return entries.some((entry) => entry.group === group)
  })
}

/** The unique keys of the commands. */
const keysOf = (commands: NonNullable<LoadRequest["lanes"]>): ReadonlyArray<UniqueKey> => {
  const keys = commands.flatMap((command): ReadonlyArray<UniqueKey> => {
    const key = keyOf(command)
    return key === undefined ? [] : [{ group: command.group, key }]
  })
  return Array.from(new Map(keys.map((key) => [idOf(key), key])).values())
}
