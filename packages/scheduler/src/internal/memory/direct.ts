/** Enqueues and ends single jobs in memory, from which nothing else follows. */
import type { StorageError } from "@kinora/persistence/StorageError"
import { type DateTime, Effect } from "effect"
import type { ClaimedJob, JobAddress, Lease } from "../../Job.ts"
import { noChanges } from "../laneChanges.ts"
import type { LaneCounters, NewJob } from "../loadedLanes.ts"
import { shareOf } from "../shares.ts"
import type { LeaseTerms } from "../storeTypes.ts"
import { idOf } from "../uniqueKeys.ts"
import { heldAt, isHeld } from "../workers.ts"
import { apply } from "./lanes.ts"
import type { Tables } from "./tables.ts"

/** Enqueues a job into a free slot of its lane, and leases it to a worker. */
export const enqueueLeased = (
  tables: Tables,
  job: NewJob,
  { cap, weight }: Pick<LaneCounters, "cap" | "weight">,
  terms: LeaseTerms,
  now: DateTime.Utc
): Effect.Effect<ClaimedJob | undefined, StorageError> => {
  const lane = tables.lanes.get(job.lane)
  if (
    lane?.group !== job.group || lane.cap !== cap || lane.weight !== weight || lane.waiting > 0 || lane.held >= cap ||
    tables.jobs.has(job.job) || tables.delayed.has(job.job) ||
    !isHeld(heldAt(tables.workers.values(), now), terms.lease)
  ) return Effect.undefined
  const after = { ...lane, held: lane.held + 1, heldMax: cap }
  const enqueued = { ...job, state: "queued", share: shareOf(lane.held, weight) } as const
  return Effect.map(
    apply(tables, { ...noChanges, enqueued: [enqueued], lanes: [{ before: lane, after }] }, now, {
      ...terms,
      job: job.job
    }),
    (applied) => applied?.handed
  )
}

/** Ends a running job. Returns whether it did. */
export const end = (tables: Tables, { epoch, group, job: id, lane: laneId }: Lease & JobAddress): boolean => {
  const [lane, job] = [tables.lanes.get(laneId), tables.jobs.get(id)]
  if (
    lane?.group !== group || lane.waiting > 0 || job?.state !== "running" || job.epoch !== epoch ||
    job.lane !== laneId ||
    Array.from(tables.heldIn(laneId).values()).some(({ startedAt, state }) =>
      state === "queued" && startedAt === undefined
    )
  ) return false
  tables.remove(id)
  if (job.uniqueKey !== undefined) tables.keys.delete(idOf({ group, key: job.uniqueKey }))
  const held = lane.held - 1
  tables.lanes.set(laneId, { ...lane, held, heldMax: Math.max(lane.cap, Math.min(held, lane.heldMax)) })
  return true
}
