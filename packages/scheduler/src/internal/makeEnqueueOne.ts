/** Enqueues one job, and hands it to a worker of this process that has a slot for it. */
import * as Pipelining from "@kinora/persistence/Pipelining"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import type { ClaimedJob } from "../Job.ts"
import type * as Lanes from "../Lanes.ts"
import { SchedulerError } from "../SchedulerError.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import { Wakeup } from "../Wakeup.ts"
import { decideEnqueue } from "./decideEnqueue.ts"
import { dueOf } from "./delays.ts"
import { makeWithoutUnit } from "./direct.ts"
import type { Reserve } from "./handovers.ts"
import { changesOf } from "./laneChanges.ts"
import * as Loaded from "./loadedLanes.ts"
import { type makeLoad, makeSaveAndClaim } from "./makeLoad.ts"
import type { AnyEnqueue, Placed } from "./requests.ts"
import type { JobSlot } from "./storeTypes.ts"
import { keyOf } from "./uniqueKeys.ts"

/** Creates the operation. Its unit of work is its own, or that of the caller, which then gets no slot: it commits later, or never. */
export const makeEnqueueOne = Effect.fnUntraced(function*(
  load: Effect.Success<ReturnType<typeof makeLoad>>,
  defaults: Loaded.EnqueueDefaults
) {
  const { atomically, isOpen } = yield* UnitOfWork
  const withoutUnit = yield* makeWithoutUnit
  const { handovers } = yield* Wakeup
  const store = yield* SchedulerStore
  const save = yield* makeSaveAndClaim

  const enqueue = Effect.fnUntraced(function*(
    command: AnyEnqueue,
    reserve: Reserve
  ): Effect.fn.Return<readonly [Enqueued, ClaimedJob | undefined], StorageError> {
    const lanes: Lanes.Lanes = yield* load({ lanes: [command] })
    const decided = decideEnqueue(lanes, command)
    if (Result.isFailure(decided)) return [Result.fail(new SchedulerError({ reason: decided.failure })), undefined]
    const { state, value } = decided.success
    const { handed } = yield* Pipelining.atCommit(save(state, yield* slotOf(command, value, reserve)))
    return [Result.succeed(value), handed]
  }, atomically)

  /** Enqueues a job that a worker starts immediately, in one statement. Returns `undefined` if it has to be enqueued under locks. */
  const start = Effect.fnUntraced(function*(
    command: AnyEnqueue,
    reserve: Reserve
  ): Effect.fn.Return<readonly [Enqueued | undefined, ClaimedJob | undefined], StorageError> {
    const placed = placeInSlot(command, defaults)
    if (placed === undefined) return nothing
    const slot = yield* slotOf(command, placed.value, reserve)
    if (slot === undefined) return nothing
    const leased = yield* withoutUnit(
      "Scheduler.enqueue",
      store.enqueueLeased(placed.job, placed.lane, slot)
    )
    return leased === undefined ? nothing : [Result.succeed(placed.value), leased]
  })

  return Effect.fnUntraced(function*(command: AnyEnqueue) {
    if (yield* isOpen) return (yield* enqueue(command, () => Effect.undefined))[0]
    const started = yield* handovers.handOver((reserve) => start(command, reserve))
    return started ?? (yield* handovers.handOver((reserve) => enqueue(command, reserve)))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The job as it would be enqueued into a free slot of its lane. `undefined` if it is refused, waits, or has a unique key. */
const placeInSlot = (command: AnyEnqueue, defaults: Loaded.EnqueueDefaults) => {
  if (keyOf(command) !== undefined || dueOf(command) !== undefined) return undefined
  const { group, lane } = command
  const empty = Loaded.fromState(
    { groups: [{ group, waiting: 0 }], lanes: [Loaded.emptyLane(lane, group)], jobs: [] },
    defaults
  )
  const decided = decideEnqueue(empty, command)
  if (Result.isFailure(decided) || decided.success.value.state !== "queued") return undefined
  const { enqueued: [job], lanes: [change] } = changesOf(decided.success.state)
  return job && change && { job, lane: change.after, value: decided.success.value }
}

const nothing = [undefined, undefined] as const

type Enqueued = Result.Result<Placed, SchedulerError>

/** Reserves a slot for a job that can start. */
const slotOf = ({ kind }: AnyEnqueue, { group, job, lane, state }: Placed, reserve: Reserve) =>
  state === "queued"
    ? Effect.map(
      reserve({ job, lane, group, kind: kind.name }),
      (slot): JobSlot | undefined => slot && { lease: slot.lease, worker: slot.worker, job }
    )
    : Effect.undefined
