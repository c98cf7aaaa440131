/** The operations of the scheduler that decide on lanes. */
import * as Decision from "@kinora/persistence/Decision"
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result, type Schema } from "effect"
import type { JobAddress, Lease } from "../Job.ts"
import * as Lanes from "../Lanes.ts"
import { SchedulerError } from "../SchedulerError.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import { makeAnnounce } from "./announce.ts"
import type { GroupId, JobId, LaneId } from "./ids.ts"
import { changesOf } from "./laneChanges.ts"
import * as Loaded from "./loadedLanes.ts"
import { placeOf, type PlaceRequest } from "./place.ts"
import type { CapCommand, Enqueue, LoadRequest } from "./requests.ts"

/** Creates the operations. */
export const makeDecisions = Effect.fnUntraced(function*(defaults: Loaded.EnqueueDefaults) {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const load = yield* makeLoad(defaults)
  const save = yield* makeSave
  const decideAll = makeDecideAll(load, save, atomically)

  const enqueueFolded = yield* Folding.makeResult({
    name: "Scheduler.enqueue",
    keyOf: ({ group }: Enqueue<Schema.Json>) => group,
    run: decideAll(
      (commands: ReadonlyArray<Enqueue<Schema.Json>>) => Effect.succeed({ lanes: commands }),
      Lanes.enqueue<Schema.Json>
    )
  })
  const cancel = yield* Folding.makeResult({
    name: "Scheduler.cancel",
    keyOf: (job: JobId) => job,
    // A job never changes its lane, so its address is read before the lane is locked.
    run: decideAll(
      (jobs: ReadonlyArray<JobId>) => Effect.map(store.find(jobs), (jobs) => ({ jobs })),
      Lanes.cancel
    )
  })
  const settle = yield* Folding.makeResult({
    name: "Scheduler.settle",
    keyOf: ({ group }: JobAddress) => group,
    run: decideAll(
      (leases: ReadonlyArray<Lease & JobAddress>) => Effect.succeed({ jobs: leases }),
      Lanes.settle
    )
  })

  const checkRoom = Effect.fn("Scheduler.checkRoom")(function*(request: PlaceRequest) {
    const { group, lane } = yield* store.peek(request.lane, request.group)
    const lanes = Loaded.fromState({ groups: [group], lanes: [lane], jobs: [] }, defaults)
    const placed = placeOf(lanes, Loaded.laneById(lanes, request.lane), request)
    if (Result.isFailure(placed)) return yield* new SchedulerError({ reason: placed.failure })
  })

  const setCap = Effect.fn("Scheduler.setCap")(
    function*(command: CapCommand) {
      const lanes = yield* load({ lanes: [command] })
      return yield* save(Loaded.setCap(lanes, command))
    },
    atomically
  )

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

  const enqueue = <Payload>(command: Enqueue<Payload>) => Effect.suspend(() => enqueueFolded(encoded(command)))

  return { load, save, checkRoom, enqueue, cancel, settle, setCap, rebuild, swapSlots: yield* makeSwapSlots }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Groups that `rebuild` counts in one unit. */
const groupsPerPage = 200

const makeLoad = Effect.fnUntraced(function*(defaults: Loaded.EnqueueDefaults) {
  const { isOpen } = yield* UnitOfWork
  const store = yield* SchedulerStore

  return Effect.fn("Scheduler.load")(function*({ jobs = [], lanes = [] }: LoadRequest) {
    // Outside of a unit the locks would end before anything is decided.
    if (!(yield* isOpen)) return yield* Effect.die(new Error("Scheduler.load was called outside of a unit of work"))
    const groupOf = groupsOf([...lanes, ...jobs])
    const state = yield* store.load({
      groups: Array.from(new Set(groupOf.values())),
      lanes: Array.from(groupOf, ([lane, group]) => ({ lane, group })),
      jobs: Array.from(new Set(jobs.map(({ job }) => job)))
    })
    const loaded: Lanes.Lanes = Loaded.fromState(state, defaults)
    return loaded
  })
})

const makeSave = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const announce = yield* makeAnnounce

  // Changes take several statements. A nested unit that fails dooms the whole one, so a caller
  // that recovers cannot commit a part of them.
  return Effect.fn("Scheduler.save")(function*(lanes: Lanes.Lanes) {
    const changes = changesOf(lanes)
    const { promoted, restamped } = yield* store.apply(changes)
    // A claim skips jobs that are restamped meanwhile, and needs a wake-up to find them.
    const hasWork = promoted.length > 0 || restamped > 0 || changes.enqueued.some((job) => job.state === "queued")
    if (hasWork) yield* announce
    return { promoted }
  }, atomically)
})

const makeSwapSlots = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const announce = yield* makeAnnounce

  return Effect.fn("Scheduler.swapSlots")(function*(limit: number) {
    const swapped = yield* store.swap(limit)
    if (swapped.promoted.length > 0) yield* announce
    return swapped
  }, atomically)
})

/** Creates functions that decide a set of commands in one unit, and return one result per command. */
const makeDecideAll = (
  load: Effect.Success<ReturnType<typeof makeLoad>>,
  save: Effect.Success<typeof makeSave>,
  atomically: UnitOfWork["Service"]["atomically"]
) =>
<Command, A, Refusal extends SchedulerError["reason"]>(
  request: (commands: ReadonlyArray<Command>) => Effect.Effect<LoadRequest, StorageError>,
  decide: (lanes: Lanes.Lanes, command: Command) => Decision.Decision<Lanes.Lanes, A, Refusal>
) =>
  Effect.fnUntraced(function*(commands: ReadonlyArray<Command>) {
    const lanes = yield* load(yield* request(commands))
    const { results, state } = Decision.all(lanes, commands, decide)
    yield* save(state)
    return results.map((result) => Result.mapError(result, (reason) => new SchedulerError({ reason })))
  }, atomically)

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
const encoded = <Payload>(command: Enqueue<Payload>): Enqueue<Schema.Json> => ({
  ...command,
  kind: { name: command.kind.name, encode: (json) => json, decode: (json) => json },
  payload: command.kind.encode(command.payload)
})
