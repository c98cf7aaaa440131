/**
 * Rules of leases: which jobs a worker gets, and what a lease permits. The memory store
 * runs these functions; `internal/sql/leases.ts` states the same rules in SQL.
 */
import * as Decision from "@kinora/persistence/Decision"
import { type DateTime, Duration, Option, Result, type Schema } from "effect"
import type { ClaimedJob, JobStatus, Lease } from "../Job.ts"
import { LeaseLost } from "../SchedulerError.ts"
import type { JobPlace, NewJob } from "./loadedLanes.ts"
import type { ClaimTerms, LeaseTerms } from "./storeTypes.ts"

/** A job as a store holds it. */
export interface StoredJob extends JobPlace, Omit<NewJob, "state"> {
  readonly checkpoint: Option.Option<Schema.Json>
  readonly attempt: number
  readonly enqueuedAt: DateTime.Utc
  readonly startedAt: DateTime.Utc | undefined
  readonly leaseUntil: DateTime.Utc | undefined
  readonly worker: string | undefined
  /** Orders pending jobs by when they were enqueued, and queued jobs by when they got their slots. */
  readonly position: number
}

/** Claims queued jobs of the given kinds, in the order in which they got their slots. */
export const claim = (jobs: Iterable<StoredJob>, terms: ClaimTerms): ReadonlyArray<StoredJob> =>
  Array.from(jobs)
    .filter(({ kind, state }) => state === "queued" && terms.kinds.includes(kind))
    .toSorted(byPosition)
    .slice(0, terms.limit)
    .map((job) => leased({ ...job, attempt: job.attempt + 1 }, terms))

/**
 * Takes over jobs of the given kinds whose lease has expired, the longest expired first.
 * Queues a job again in its old position if it has attempts left, else leases it to the
 * rescuer.
 */
export const rescue = (
  jobs: Iterable<StoredJob>,
  terms: ClaimTerms
): { readonly requeued: ReadonlyArray<StoredJob>; readonly exhausted: ReadonlyArray<StoredJob> } => {
  const lost = Array.from(jobs)
    .filter((job) => isExpired(job, terms.now) && terms.kinds.includes(job.kind))
    .toSorted((a, b) => millis(a.leaseUntil) - millis(b.leaseUntil))
    .slice(0, terms.limit)
    .toSorted(byPosition)
  return {
    requeued: lost.filter(hasAttempts).map(requeued),
    exhausted: lost.filter((job) => !hasAttempts(job)).map((job) => leased(job, terms))
  }
}

/** Queues a leased job again in its old position, without counting the attempt. */
export const release = (job: StoredJob | undefined, lease: Lease): Decision.Decision<StoredJob, void, LeaseLost> =>
  underLease(job, lease, (job) => ({ ...requeued(job), attempt: job.attempt - 1 }))

/** Renews a lease. */
export const heartbeat = (
  job: StoredJob | undefined,
  lease: Lease,
  until: DateTime.Utc
): Decision.Decision<StoredJob, void, LeaseLost> => underLease(job, lease, (job) => ({ ...job, leaseUntil: until }))

/** Stores a checkpoint. JSON null removes it. */
export const checkpoint = (
  job: StoredJob | undefined,
  lease: Lease,
  checkpoint: Schema.Json
): Decision.Decision<StoredJob, void, LeaseLost> =>
  underLease(job, lease, (job) => ({ ...job, checkpoint: Option.fromNullOr(checkpoint) }))

/** Expires the leases of first attempts that have not expired yet. */
export const expireFirst = (jobs: Iterable<StoredJob>, now: DateTime.Utc): ReadonlyArray<StoredJob> =>
  Array.from(jobs)
    .filter((job) => job.state === "running" && job.attempt === 1 && !isExpired(job, now))
    .map((job) => ({ ...job, leaseUntil: now }))

/** Orders jobs by their position. */
export const byPosition = (a: StoredJob, b: StoredJob): number => a.position - b.position

/** A job as its worker gets it. */
export const toClaimed = (job: StoredJob): ClaimedJob => ({
  job: job.job,
  lane: job.lane,
  group: job.group,
  kind: job.kind,
  payload: job.payload,
  checkpoint: job.checkpoint,
  epoch: job.epoch,
  attempt: job.attempt,
  attemptsMax: job.attemptsMax,
  enqueuedAt: job.enqueuedAt,
  startedAt: job.startedAt ?? job.enqueuedAt,
  timeLimit: Option.map(Option.fromUndefinedOr(job.timeLimit), Duration.millis)
})

/** The status of a job. */
export const toStatus = (job: StoredJob): JobStatus => ({
  job: job.job,
  lane: job.lane,
  group: job.group,
  kind: job.kind,
  state: job.state,
  epoch: job.epoch,
  attempt: job.attempt,
  enqueuedAt: job.enqueuedAt,
  worker: Option.fromUndefinedOr(job.worker)
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const underLease = (
  job: StoredJob | undefined,
  lease: Lease,
  change: (job: StoredJob) => StoredJob
): Decision.Decision<StoredJob, void, LeaseLost> =>
  job?.state === "running" && job.epoch === lease.epoch
    ? Decision.accept(change(job), undefined)
    : Result.fail(new LeaseLost({ job: lease.job, epoch: lease.epoch }))

const leased = (job: StoredJob, { now, until, worker }: LeaseTerms): StoredJob => ({
  ...job,
  state: "running",
  epoch: job.epoch + 1,
  startedAt: job.startedAt ?? now,
  leaseUntil: until,
  worker
})

const requeued = (job: StoredJob): StoredJob => ({ ...job, state: "queued", leaseUntil: undefined })

const hasAttempts = ({ attempt, attemptsMax }: StoredJob) => attempt < attemptsMax

const isExpired = ({ leaseUntil, state }: StoredJob, now: DateTime.Utc) =>
  state === "running" && millis(leaseUntil) <= millis(now)

const millis = (time: DateTime.Utc | undefined) => time?.epochMilliseconds ?? 0
