/** Enqueues one job, and hands it to a worker of this process that has a slot for it. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { Effect, Result } from "effect"
import type { ClaimedJob } from "../Job.ts"
import type * as Lanes from "../Lanes.ts"
import { SchedulerError } from "../SchedulerError.ts"
import { Wakeup } from "../Wakeup.ts"
import { type AnyEnqueue, decideEnqueue, type Placed } from "./decideEnqueue.ts"
import type { Reserve } from "./handovers.ts"
import { type makeLoad, makeSaveAndClaim } from "./makeLoad.ts"

/** Creates the operation. Its unit of work is its own, or that of the caller, which then gets no slot: it commits later, or never. */
export const makeEnqueueOne = Effect.fnUntraced(function*(load: Effect.Success<ReturnType<typeof makeLoad>>) {
  const { atomically, isOpen } = yield* UnitOfWork
  const { handovers } = yield* Wakeup
  const save = yield* makeSaveAndClaim

  const enqueue = Effect.fnUntraced(function*(
    command: AnyEnqueue,
    reserve: Reserve
  ): Effect.fn.Return<readonly [Enqueued, ClaimedJob | undefined], StorageError> {
    const lanes: Lanes.Lanes = yield* load({ lanes: [command] })
    const decided = decideEnqueue(lanes, command)
    if (Result.isFailure(decided)) return [Result.fail(new SchedulerError({ reason: decided.failure })), undefined]
    const { state, value } = decided.success
    const { group, job, lane } = value
    const slot = value.state === "queued" ? yield* reserve({ job, lane, group, kind: command.kind.name }) : undefined
    const { handed } = yield* save(state, slot && { lease: slot.lease, worker: slot.worker, job })
    return [Result.succeed(value), handed]
  }, atomically)

  return Effect.fnUntraced(function*(command: AnyEnqueue) {
    if (yield* isOpen) return (yield* enqueue(command, () => Effect.undefined))[0]
    return yield* handovers.handOver((reserve) => enqueue(command, reserve))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Enqueued = Result.Result<Placed, SchedulerError>
