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
  const { dueAt: _, enqueuedAt: __, refusals, tryAt: ___, waitingMax, ...row } = delayed
  const { failures, group, job, lane: id } = delayed
  const current = Loaded.jobOf(lanes, job)
  // Cancelled, or placed by another worker.
  if (current === undefined) return lanes
  const lane = Loaded.laneOf(lanes, delayed)
  // A job that failed was accepted before, and would starve in a group that is always full.
  const max = failures > 0 ? Infinity : waitingMax
  const placed = placeOf(lanes, lane, { lane: id, group, cap: lane.cap, waitingMax: max })
  if (current.state !== "delayed" || Result.isFailure(placed)) {
    return Loaded.postpone(lanes, { job, millis: pauseOf(refusals) })
  }
  const state = placed.success
  return Loaded.setLane(
    Loaded.addJob(Loaded.removeJob(lanes, job), { ...row, state }),
    lane,
    Loaded.count(lane, state, 1)
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** First pause before a job whose group is full is tried again. Each further one is twice as long. */
const firstPause = 1_000

const pauseMax = 60_000

const pauseOf = (refusals: number): number => Math.min(pauseMax, firstPause * 2 ** Math.min(refusals, 10))
