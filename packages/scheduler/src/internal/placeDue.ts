/** The place that a delayed job gets when it is due. Pure. */
import { Result } from "effect"
import type { StoredDelayed } from "./delays.ts"
import type { LoadedLanes } from "./loadedLanes.ts"
import * as Loaded from "./loadedLanes.ts"
import { placeOf } from "./place.ts"

/**
 * Places a due job that was loaded. If the queue of its group is full, or another job has its id, the job stays delayed,
 * and is tried again after a pause.
 */
export const placeDue = (lanes: LoadedLanes, delayed: StoredDelayed): LoadedLanes => {
  const { attemptsMax, epoch, group, job, kind, lane: id, payload, timeLimit, waitingMax } = delayed
  const current = Loaded.jobOf(lanes, job)
  // Cancelled, or placed by another worker.
  if (current === undefined) return lanes
  const lane = Loaded.laneOf(lanes, delayed)
  const placed = placeOf(lanes, lane, { lane: id, group, cap: lane.cap, waitingMax })
  if (current.state !== "delayed" || Result.isFailure(placed)) {
    return Loaded.postpone(lanes, { job, millis: pauseOf(delayed.refusals) })
  }
  const state = placed.success
  const added = { job, lane: id, group, epoch, kind, payload, state, attemptsMax, timeLimit }
  return Loaded.setLane(Loaded.addJob(Loaded.removeJob(lanes, job), added), lane, Loaded.count(lane, state, 1))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** First pause before a job whose group is full is tried again. Each further one is twice as long. */
const firstPause = 1_000

const pauseMax = 60_000

const pauseOf = (refusals: number): number => Math.min(pauseMax, firstPause * 2 ** Math.min(refusals, 10))
