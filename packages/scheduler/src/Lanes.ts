/**
 * Rules of lanes: which job gets a slot, which one waits, and which one is refused.
 *
 * A lane has `cap` slots. A queued or running job holds one; the other jobs of the lane
 * wait in the order in which they were enqueued. Two invariants hold after every
 * decision: `held` exceeds `cap` only after the cap was lowered, and no job waits while
 * a slot of its lane is free.
 *
 * `Lanes` is immutable. Each function here returns a refusal, or the next lanes and a
 * value; a decision that is not adopted changes nothing. Load lanes with
 * `Scheduler.load` and write them with `Scheduler.save`:
 *
 *     let lanes = yield* scheduler.load({ lanes: [command] })
 *     const placed = Lanes.enqueue(lanes, command)
 *     if (Result.isSuccess(placed)) lanes = placed.success.state
 *     yield* scheduler.save(lanes)
 */
import * as Decision from "@kinora/persistence/Decision"
import { Duration, Option, Result } from "effect"
import { dueOf } from "./internal/delays.ts"
import { checkJobId } from "./internal/ids.ts"
import type { LoadedLanes } from "./internal/loadedLanes.ts"
import * as Loaded from "./internal/loadedLanes.ts"
import { placeOf } from "./internal/place.ts"
import { checkPriority } from "./internal/priorities.ts"
import {
  AlreadyRunning,
  DuplicateJob,
  type InvalidJobId,
  type InvalidPriority,
  LeaseLost,
  NotFound,
  type QueueFull
} from "./internal/reasons.ts"
import type { Delay, Enqueue, Unique } from "./internal/requests.ts"
import { keyOf } from "./internal/uniqueKeys.ts"
import type { JobAddress, JobStatus, Lease } from "./Job.ts"

/** Locked lanes, with the decisions that were adopted since they were loaded. Valid within one unit of work. */
export interface Lanes extends LoadedLanes {}

/**
 * Returns the cap and the weight of a loaded lane. The cap is 0 until the first job was enqueued or a cap was set.
 * Throws if the lane was not loaded.
 */
export const get = (lanes: Lanes, lane: string): { readonly cap: number; readonly weight: number } =>
  Loaded.laneById(lanes, lane)

/**
 * Gives the job a slot if one is free, else a place in the queue of its lane. Refuses the
 * job if `waitingMax` jobs of the group wait already, if another job holds its unique key, and if its id or its priority is invalid. A `pending`
 * job may get a slot before the lanes are saved; in this case, `Scheduler.save` returns it as promoted. Throws if the lane was
 * not loaded, belongs to another group, or has the job already.
 */
export const enqueue = <Payload>(
  lanes: Lanes,
  command: Enqueue<Payload>
): Decision.Decision<
  Lanes,
  JobAddress & { readonly state: "pending" | "queued" },
  QueueFull | DuplicateJob | InvalidJobId | InvalidPriority
> => {
  const { cap, group, job, weight = 1 } = command
  const lane = Loaded.laneOf(lanes, command)
  const isNew = checkNew(lanes, command)
  if (Result.isFailure(isNew)) return Result.fail(isNew.failure)
  const placed = placeOf(lanes, lane, command)
  if (Result.isFailure(placed)) return Result.fail(placed.failure)
  const state = placed.success
  const enqueued = { job, lane: lane.lane, group, state } as const
  const next = Loaded.addJob(lanes, { ...rowOf(lanes, command), state })
  return Decision.accept(Loaded.setLane(next, lane, Loaded.count({ ...lane, cap, weight }, state, 1)), enqueued)
}

/**
 * Adds a job that does not start before it is due. It takes no slot and does not count as waiting. When it is due, it is
 * placed like a job that is enqueued at that time, under the cap and the weight of the lane at that time. The lane gets those of the
 * command now. A job without a delay is due immediately. Refuses the job if another job holds its unique key, and if its id or its
 * priority is invalid. Throws like `enqueue`, if both `delay` and `runAt` are given, and if the job is due too late.
 */
export const delay = <Payload>(
  lanes: Lanes,
  command: Enqueue<Payload> & Delay
): Decision.Decision<
  Lanes,
  JobAddress & { readonly state: "delayed" },
  DuplicateJob | InvalidJobId | InvalidPriority
> => {
  const { cap, group, job, waitingMax, weight = 1 } = command
  const lane = Loaded.laneOf(lanes, command)
  const isNew = checkNew(lanes, command)
  if (Result.isFailure(isNew)) return Result.fail(isNew.failure)
  const due = dueOf(command) ?? { at: undefined, millis: 0 }
  const next = Loaded.addDelayed(lanes, { ...rowOf(lanes, command), waitingMax, due })
  return Decision.accept(Loaded.setLane(next, lane, { ...lane, cap, weight }), {
    job,
    lane: lane.lane,
    group,
    state: "delayed"
  })
}

/**
 * Ends a delayed, pending or queued job that no worker has started, and returns it with its last state. A job that
 * was started once is refused with `AlreadyRunning`, also while it waits for its next worker.
 */
export const cancel = (lanes: Lanes, job: string): Decision.Decision<Lanes, Ended, NotFound | AlreadyRunning> => {
  const found = Loaded.jobOf(lanes, job)
  if (found === undefined) return Result.fail(new NotFound({ job }))
  if (found.epoch > 0) return Result.fail(new AlreadyRunning({ job }))
  return end(lanes, found)
}

/**
 * Ends a job in any state, and returns it with its last state. A worker that runs it loses its
 * lease: its writes change nothing, and it interrupts the run at its next heartbeat.
 */
export const abort = (lanes: Lanes, job: string): Decision.Decision<Lanes, Ended, NotFound> => {
  const found = Loaded.jobOf(lanes, job)
  return found === undefined ? Result.fail(new NotFound({ job })) : end(lanes, found)
}

/** Ends a running job under its lease, whether it completed or failed, and returns it with its last state. */
export const settle = (lanes: Lanes, { epoch, job }: Lease): Decision.Decision<Lanes, Ended, LeaseLost> => {
  const found = Loaded.jobOf(lanes, job)
  if (found?.state !== "running" || found.epoch !== epoch) return Result.fail(new LeaseLost({ job, epoch }))
  return end(lanes, found)
}

/**
 * Ends the run of a running job under its lease, and delays the job, which runs again with its last checkpoint when it is
 * due. Frees its slot. Its attempts and its time limit begin anew, and `failures` counts the run.
 */
export const retry = (
  lanes: Lanes,
  { delay, epoch, job }: Lease & Pick<Delay, "delay">
): Decision.Decision<Lanes, JobAddress & { readonly state: "delayed" }, LeaseLost> => {
  const found = Loaded.jobOf(lanes, job)
  if (found?.state !== "running" || found.epoch !== epoch) return Result.fail(new LeaseLost({ job, epoch }))
  const { group, lane } = found
  const before = Loaded.laneById(lanes, lane)
  const next = Loaded.retryJob(lanes, found, dueOf({ delay })?.millis ?? 0)
  const value = { job, lane, group, state: "delayed" } as const
  return Decision.accept(Loaded.setLane(next, before, Loaded.count(before, found.state, -1)), value)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Refuses a new job whose id or priority is invalid, or whose unique key another job holds. */
const checkNew = (
  lanes: Lanes,
  command: JobAddress & Unique & Pick<Enqueue<unknown>, "priority">
): Result.Result<void, DuplicateJob | InvalidJobId | InvalidPriority> => {
  const { group } = command
  const key = keyOf(command)
  const job = key === undefined ? undefined : Loaded.holderOf(lanes, { group, key })
  if (key !== undefined && job !== undefined) return Result.fail(new DuplicateJob({ group, key, job }))
  const isValid = checkJobId(command.job)
  return Result.isFailure(isValid) ? isValid : checkPriority(command)
}

/** The row of a new job, without its state. */
const rowOf = <Payload>(lanes: Lanes, command: Enqueue<Payload>) => ({
  job: command.job,
  lane: command.lane,
  group: command.group,
  epoch: 0,
  kind: command.kind.name,
  priority: command.priority ?? 0,
  payload: command.kind.encode(command.payload),
  attemptsMax: command.attemptsMax ?? lanes.defaults.attemptsMax,
  timeLimit: command.timeLimit === undefined ? undefined : Math.ceil(Duration.toMillis(command.timeLimit)),
  checkpoint: Option.none(),
  failures: 0,
  uniqueKey: keyOf(command)
})

type Ended = JobAddress & Pick<JobStatus, "state">

const end = (lanes: Lanes, { group, job, lane, state }: Loaded.JobPlace): Decision.Decision<Lanes, Ended> => {
  const before = Loaded.laneById(lanes, lane)
  const next = Loaded.setLane(Loaded.removeJob(lanes, job), before, Loaded.count(before, state, -1))
  return Decision.accept(next, { job, lane, group, state })
}
