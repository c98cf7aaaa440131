/** The place that a new job gets in its lane. Pure. */
import { Result } from "effect"
import * as Loaded from "./loadedLanes.ts"
import { QueueFull } from "./reasons.ts"

/** The part of an enqueue command that its place depends on. */
export interface PlaceRequest {
  readonly lane: string
  readonly group: string
  /** Slots of the lane from now on. */
  readonly cap: number
  /** Maximum number of waiting jobs in the whole group. Default: `waitingMax` of the scheduler. */
  readonly waitingMax?: number | undefined
}

/** Returns the state of a new job: `queued` if a slot is free, else `pending` if the group may have one more waiting job. */
export const placeOf = (
  lanes: Loaded.LoadedLanes,
  lane: Loaded.LoadedLane,
  { cap, group, waitingMax = lanes.defaults.waitingMax }: PlaceRequest
): Result.Result<"queued" | "pending", QueueFull> => {
  if (Loaded.hasRoom(lane, cap)) return Result.succeed("queued")
  // The new cap may promote jobs of the lane, which then do not count as waiting.
  const waiting = Loaded.waitingWith(lanes, lane, cap)
  return waiting >= waitingMax
    ? Result.fail(new QueueFull({ group, waiting, max: waitingMax }))
    : Result.succeed("pending")
}
