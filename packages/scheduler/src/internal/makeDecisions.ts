/** The operations of the scheduler that decide on lanes. */
import * as Decision from "@kinora/persistence/Decision"
import * as Folding from "@kinora/persistence/Folding"
import * as Pipelining from "@kinora/persistence/Pipelining"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import type { JobAddress, Lease } from "../Job.ts"
import * as Lanes from "../Lanes.ts"
import { SchedulerError, type SchedulerErrorReason } from "../SchedulerError.ts"
import { SchedulerStore } from "../SchedulerStore.ts"
import { makeAnnounce } from "./announce.ts"
import { decideEnqueue } from "./decideEnqueue.ts"
import { makeWithoutUnit } from "./direct.ts"
import type { GroupId, JobId } from "./ids.ts"
import * as Loaded from "./loadedLanes.ts"
import { makeDelays } from "./makeDelays.ts"
import { makeEnqueueOne } from "./makeEnqueueOne.ts"
import { makeForget } from "./makeForget.ts"
import { makeLoad, makeSave } from "./makeLoad.ts"
import { makeTicks } from "./makeTicks.ts"
import { placeOf, type PlaceRequest } from "./place.ts"
import type { AnyEnqueue, CapCommand, Delay, Enqueue, LoadRequest } from "./requests.ts"

/** Creates the operations. */
export const makeDecisions = Effect.fnUntraced(function*(defaults: Loaded.EnqueueDefaults) {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const load = yield* makeLoad(defaults)
  const save = yield* makeSave
  const decideAll = makeDecideAll(load, save, atomically)
  const cancel = yield* Folding.makeResult({
    name: "Scheduler.cancel",
    keyOf: (job: JobId) => job,
    // A job never changes its lane, so its address is read before the lane is locked.
    run: decideAll(
      (jobs: ReadonlyArray<JobId>) => Effect.map(store.find(jobs), (jobs) => ({ jobs })),
      Lanes.cancel
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
      return yield* Pipelining.atCommit(save(Loaded.setCap(lanes, command)))
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

  const decisions = {
    load,
    save,
    checkRoom,
    enqueue: yield* makeEnqueue(load, decideAll, defaults),
    cancel,
    settle: yield* makeSettle(decideAll),
    setCap,
    rebuild
  }
  return {
    ...decisions,
    swapSlots: yield* makeSwapSlots,
    ...yield* makeDelays(load, save),
    forget: yield* makeForget(load, save),
    enqueueTicks: yield* Effect.provide(makeTicks(load, save), SecureRandom.layerWebCrypto)
  }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Groups that `rebuild` counts in one unit. */
const groupsPerPage = 200

const makeSwapSlots = Effect.gen(function*() {
  const { atomically } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const announce = yield* makeAnnounce

  return Effect.fn("Scheduler.swapSlots")(function*(limit: number) {
    const swapped = yield* store.swap(limit)
    if (swapped.promoted.length > 0) yield* announce(undefined)
    return swapped
  }, atomically)
})

const makeEnqueue = Effect.fnUntraced(function*(
  load: Load,
  decideAll: DecideAll,
  defaults: Loaded.EnqueueDefaults
) {
  const enqueueAll = decideAll(
    (commands: ReadonlyArray<AnyEnqueue>) => Effect.succeed({ lanes: commands }),
    decideEnqueue
  )
  const enqueueOne = yield* makeEnqueueOne(load, defaults)
  const enqueue = yield* Folding.makeResult({
    name: "Scheduler.enqueue",
    keyOf: ({ group }: AnyEnqueue) => group,
    run: (commands) => {
      const [first, ...others] = commands
      // A set is for a claim, which takes all its jobs at once.
      return first === undefined || others.length > 0
        ? enqueueAll(commands)
        : Effect.map(enqueueOne(first), (result) => [result])
    }
  })
  return <Payload>(command: Enqueue<Payload> & Delay) => Effect.suspend(() => enqueue(encoded(command)))
})

/** Maximum number of jobs that one unit of work settles. */
const settledMax = 256

const makeSettle = Effect.fnUntraced(function*(decideAll: DecideAll) {
  const { isOpen } = yield* UnitOfWork
  const store = yield* SchedulerStore
  const withoutUnit = yield* makeWithoutUnit
  const settleAll = decideAll(
    (leases: ReadonlyArray<Lease & JobAddress>) => Effect.succeed({ jobs: leases }),
    Lanes.settle
  )
  return yield* Folding.makeResult({
    name: "Scheduler.settle",
    membersMax: settledMax,
    keyOf: ({ group }: JobAddress) => group,
    run: Effect.fnUntraced(function*(leases: ReadonlyArray<Lease & JobAddress>) {
      const [first, ...others] = leases
      const isSingle = first !== undefined && others.length === 0 && !(yield* isOpen)
      if (isSingle && (yield* withoutUnit("Scheduler.settle", store.end(first))) === true) {
        return [Result.succeed({ ...addressOf(first), state: "running" as const })]
      }
      return yield* settleAll(leases)
    })
  })
})

const addressOf = ({ group, job, lane }: JobAddress): JobAddress => ({ job, lane, group })

type DecideAll = ReturnType<typeof makeDecideAll>

type Load = Effect.Success<ReturnType<typeof makeLoad>>

/** Creates functions that decide a set of commands in one unit, and return one result per command. */
const makeDecideAll = (
  load: Load,
  save: Effect.Success<typeof makeSave>,
  atomically: UnitOfWork["Service"]["atomically"]
) =>
<Command, A, Refusal extends SchedulerErrorReason>(
  request: (commands: ReadonlyArray<Command>) => Effect.Effect<LoadRequest, StorageError>,
  decide: (lanes: Lanes.Lanes, command: Command) => Decision.Decision<Lanes.Lanes, A, Refusal>
) =>
  Effect.fnUntraced(function*(commands: ReadonlyArray<Command>) {
    const lanes = yield* load(yield* request(commands))
    const { results, state } = Decision.all(lanes, commands, decide)
    yield* Pipelining.atCommit(save(state))
    return results.map((result) => Result.mapError(result, (reason) => new SchedulerError({ reason })))
  }, atomically)

/** The command with its payload as JSON, so that commands of all kinds fold into one set. */
const encoded = <Payload>(command: Enqueue<Payload> & Delay): AnyEnqueue => ({
  ...command,
  kind: { name: command.kind.name, encode: (json) => json, decode: (json) => json },
  payload: command.kind.encode(command.payload)
})
