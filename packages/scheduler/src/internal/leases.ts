/**
 * Rules of leases: which jobs a worker gets, and what a lease permits. The memory store
 * runs these functions; `internal/sql/leases.ts` states the same rules in SQL.
 */
import * as Decision from "@kinora/persistence/Decision"
import { type DateTime, Duration, Option, Result, type Schema } from "effect"
import type { ClaimedJob, JobStatus, Lease } from "../Job.ts"
import { LeaseLost } from "../SchedulerError.ts"
import * as KindName from "./kindName.ts"
import type { JobPlace, NewJob } from "./loadedLanes.ts"
import type { Release } from "./requests.ts"
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
    .map((job) => leased(counted(job), terms))

/**
 * Takes over jobs of all pools of the given kinds: first those that wait for their next
 * worker and have exceeded their time limit, then those whose lease has expired, each the
 * longest expired first. Queues a job again in its old position if it has attempts and
 * time left, else leases it to the rescuer. A rescuer needs no worker for the pool of a job,
 * so jobs of a pool that has lost all its workers end too.
 */
export const rescue = (
  jobs: Iterable<StoredJob>,
  terms: ClaimTerms
): { readonly requeued: ReadonlyArray<StoredJob>; readonly exhausted: ReadonlyArray<StoredJob> } => {
  const own = Array.from(jobs).filter(({ kind }) => terms.kinds.includes(KindName.baseOf(kind)))
  const late = own.filter((job) => isLate(job, terms.now)).toSorted((a, b) => endOf(a) - endOf(b))
  const lost = own
    .filter((job) => isExpired(job, terms.now))
    .toSorted((a, b) => millis(a.leaseUntil) - millis(b.leaseUntil))
  const taken = [...late, ...lost].slice(0, terms.limit).toSorted(byPosition)
  const isRequeued = (job: StoredJob) => job.state === "running" && hasAttempts(job)
  return {
    requeued: taken.filter(isRequeued).map(requeued),
    exhausted: taken
      .filter((job) => !isRequeued(job))
      .map((job) => leased(job.state === "queued" ? counted(job) : job, terms))
  }
}

/** Queues a leased job again in its old position, without counting the attempt, and moves it to the given pool. */
export const release = (job: StoredJob | undefined, lease: Release): Decision.Decision<StoredJob, void, LeaseLost> =>
  underLease(job, lease, (job) => ({
    ...requeued(job),
    attempt: job.attempt - 1,
    kind: lease.pool === undefined ? job.kind : KindName.ofPool(KindName.baseOf(job.kind), lease.pool)
  }))

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

const counted = (job: StoredJob): StoredJob => ({ ...job, attempt: job.attempt + 1 })

const requeued = (job: StoredJob): StoredJob => ({ ...job, state: "queued", leaseUntil: undefined })

const hasAttempts = ({ attempt, attemptsMax }: StoredJob) => attempt < attemptsMax

/** Returns whether a started job has exceeded its time limit while it waits for its next worker. */
const isLate = (job: StoredJob, now: DateTime.Utc) =>
  job.state === "queued" && job.startedAt !== undefined && endOf(job) <= millis(now)

/** When the time limit of a started job passes, in Unix milliseconds. */
const endOf = ({ startedAt, timeLimit = Infinity }: StoredJob) => millis(startedAt) + timeLimit

const isExpired = ({ leaseUntil, state }: StoredJob, now: DateTime.Utc) =>
  state === "running" && millis(leaseUntil) <= millis(now)

const millis = (time: DateTime.Utc | undefined) => time?.epochMilliseconds ?? 0
