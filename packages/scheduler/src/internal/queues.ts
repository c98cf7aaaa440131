/** Counts of jobs per kind, lane and worker. `internal/sql/workers.ts` and `internal/sql/queries.ts` have the same rules in SQL. */
import { DateTime, Duration, Option } from "effect"
import type { JobStatus } from "../Job.ts"
import type { StoredDelayed } from "./delays.ts"
import type { StoredJob } from "./leases.ts"
import type { LaneCounters } from "./loadedLanes.ts"
import type { LaneSelection, LaneStatus, Offer, Queue, WorkerSelection, WorkerStatus } from "./storeTypes.ts"
import type { StoredWorker } from "./workers.ts"

/** Returns the queues of all kinds that have a job or a worker, sorted by kind. */
export const queues = (
  jobs: ReadonlyArray<StoredJob>,
  delayed: ReadonlyArray<StoredDelayed>,
  offers: ReadonlyArray<Offer>,
  now: DateTime.Utc
): ReadonlyArray<Queue> => {
  const kinds = new Set([...jobs, ...delayed].map(({ kind }) => kind).concat(offers.flatMap((offer) => offer.kinds)))
  return Array.from(kinds).toSorted().map((kind) => {
    const own = jobs.filter((job) => job.kind === kind)
    const count = (state: StoredJob["state"]) => own.filter((job) => job.state === state).length
    const times = own.filter(({ state }) => state === "queued").map(({ enqueuedAt }) => enqueuedAt)
    const oldest = times.length === 0 ? Option.none() : Option.some(times.reduce(DateTime.min))
    const workers = offers.filter((offer) => offer.kinds.includes(kind))
    return {
      kind,
      pending: count("pending"),
      queued: count("queued"),
      running: count("running"),
      delayed: delayed.filter((job) => job.kind === kind).length,
      oldest,
      oldestWait: Option.map(oldest, (time) => Duration.max(Duration.zero, DateTime.distance(time, now))),
      workers: workers.length,
      slots: workers.reduce((sum, { slots }) => sum + slots, 0)
    }
  })
}

/** Returns a page of the lanes that have a job. */
export const lanes = (
  stored: Iterable<LaneCounters>,
  jobs: ReadonlyArray<Pick<JobStatus, "lane" | "state">>,
  { after = "", group, limit }: LaneSelection
): ReadonlyArray<LaneStatus> => {
  const used = new Set(jobs.map(({ lane }) => lane))
  return Array.from(stored)
    .filter((lane) => used.has(lane.lane) && lane.lane > after && (group === undefined || lane.group === group))
    .toSorted((a, b) => a.lane < b.lane ? -1 : 1)
    .slice(0, limit)
    .map(({ cap, group, lane, weight }) => {
      const count = (state: JobStatus["state"]) => jobs.filter((job) => job.lane === lane && job.state === state).length
      const counted = { pending: count("pending"), queued: count("queued"), running: count("running") }
      return { lane, group, cap, weight, ...counted, delayed: count("delayed") }
    })
}

/** Returns a page of the workers whose lease holds. */
export const workers = (
  stored: Iterable<StoredWorker>,
  jobs: Iterable<Pick<StoredJob, "lease" | "state">>,
  { after = "", limit }: WorkerSelection,
  now: DateTime.Utc
): ReadonlyArray<WorkerStatus> => {
  const running = Array.from(jobs).filter(({ state }) => state === "running")
  return Array.from(stored)
    .filter(({ id, until }) => id > after && DateTime.isGreaterThan(until, now))
    .toSorted((a, b) => a.id < b.id ? -1 : 1)
    .slice(0, limit)
    .map(({ drains, lease, startedAt, ...worker }) => ({
      ...worker,
      startedAt: Option.fromUndefinedOr(startedAt),
      running: running.filter((job) => job.lease !== undefined && job.lease === lease).length,
      isDraining: drains || worker.kinds.length === 0
    }))
}
