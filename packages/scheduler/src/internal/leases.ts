/**
 * Rules of leases: which jobs a worker gets, and what a lease permits. The memory store
 * runs these functions; `internal/sql/leases.ts` states the same rules in SQL.
 */
import * as Decision from "@kinora/persistence/Decision"
import { DateTime, Duration, Option, Result } from "effect"
import type { ClaimedJob, JobStatus, Lease } from "../Job.ts"
import * as KindName from "./kindName.ts"
import type { JobPlace, NewJob } from "./loadedLanes.ts"
import { byPlace, type Exchanged, exchangePlaces } from "./priorities.ts"
import { LeaseLost } from "./reasons.ts"
import type { Release } from "./requests.ts"
import { startedShare } from "./shares.ts"
import type { AloneQuestion, Checkpoint, ClaimTerms, LeaseTerms, RescueTerms } from "./storeTypes.ts"
import { type Held, isHeld, type StoredWorker } from "./workers.ts"

/** A job as a store holds it. */
export interface StoredJob extends Omit<JobPlace & NewJob, "state"> {
  readonly state: Exclude<JobStatus["state"], "delayed">
  /** Whether a worker may claim it also if its pool has no room. */
  readonly resumable: boolean
  readonly attempt: number
  readonly enqueuedAt: DateTime.Utc
  readonly startedAt: DateTime.Utc | undefined
  /** The lease of the worker that runs it. */
  readonly lease: string | undefined
  /** Expiry of the lease of this job only. Workers of builds without leases of workers set it. */
  readonly leaseUntil: DateTime.Utc | undefined
  readonly worker: string | undefined
  /** When its last attempt may start, which runs alone. `undefined` before its last but one attempt was lost. */
  readonly aloneFrom: DateTime.Utc | undefined
  /** Orders pending jobs by when they were enqueued, and the others by when they got their slots. */
  readonly position: number
  /** Orders queued jobs before their position (`internal/shares.ts`). */
  readonly share: number
  /** The position that it had before it first exchanged its place with another queued job (`internal/priorities.ts`). */
  readonly ownPosition: number | undefined
}

/**
 * Claims queued jobs of the given kinds, and resumable ones of others, the smallest share first,
 * then in the order in which they got their slots, except that jobs of one lane with a higher priority take the places of
 * others, which stay queued. Leaves out the jobs of some groups. A job that has to run alone is claimed only if the worker
 * asks for one, the longest waiting one first.
 */
export const claim = (jobs: Iterable<StoredJob>, terms: ClaimTerms, held: Held): Exchanged<StoredJob> => {
  if (!isHeld(held, terms.lease)) return { claimed: [], displaced: [] }
  const queued = Array.from(jobs).filter((job) =>
    job.state === "queued" && isClaimed(job, terms) && !terms.except.includes(job.group)
  )
  const lease = (job: StoredJob) => leased(counted(job), terms, held.now)
  if (terms.alone) {
    const next = queued.filter((job) => mayRunAlone(job, held.now)).toSorted(byAloneFrom)
    return { claimed: next.slice(0, Math.min(1, terms.limit)).map(lease), displaced: [] }
  }
  const claimable = queued.filter(({ aloneFrom }) => aloneFrom === undefined).toSorted(byPlace)
  const { claimed, displaced } = exchangePlaces(
    claimable.slice(0, terms.limit),
    claimable.filter(({ kind }) => terms.kinds.includes(kind))
  )
  return { claimed: claimed.map(lease), displaced }
}

/** Claims one queued job that does not have to run alone. */
export const claimJob = (job: StoredJob | undefined, terms: LeaseTerms, held: Held): StoredJob | undefined =>
  job?.state === "queued" && job.aloneFrom === undefined && isHeld(held, terms.lease)
    ? leased(counted(job), terms, held.now)
    : undefined

/**
 * Returns whether a worker should run no other job, so that it can run one alone. Of several
 * workers with jobs, only the one with the lowest id makes room, so that the others continue.
 */
export const isAloneDue = (
  jobs: Iterable<StoredJob>,
  workers: Iterable<StoredWorker>,
  { id, isIdle, ...claimed }: AloneQuestion,
  held: Held
): boolean => {
  const others = Array.from(workers).filter((other) => isHeld(held, other.lease) && other.id < id)
  return Array.from(jobs).some((job) =>
    job.state === "queued" && isClaimed(job, claimed) && mayRunAlone(job, held.now) &&
    (isIdle || !others.some((other) => other.kinds.includes(job.kind)))
  )
}

/**
 * Takes over jobs of all pools of the given kinds: first those that wait for their next
 * worker and have exceeded their time limit, the longest exceeded first, then those whose
 * worker is lost and those that the rescuer has leased but does not run, in the order of their positions. Queues a job again in its old position if
 * it has attempts and time left, else leases it to the rescuer. A rescuer needs no worker for
 * the pool of a job, so jobs of a pool that has lost all its workers end too.
 *
 * The last attempt of a job runs alone and after a pause, unless it is also the first one. So
 * a job that ends its process fails by itself, and no other job fails because of it.
 */
export const rescue = (
  jobs: Iterable<StoredJob>,
  terms: RescueTerms,
  held: Held
): { readonly requeued: ReadonlyArray<StoredJob>; readonly exhausted: ReadonlyArray<StoredJob> } => {
  if (!isHeld(held, terms.lease)) return { requeued: [], exhausted: [] }
  const own = Array.from(jobs).filter(({ kind }) => terms.kinds.includes(KindName.baseOf(kind)))
  const late = own.filter((job) => isLate(job, held.now)).toSorted((a, b) => endOf(a) - endOf(b))
  const lost = own.filter((job) => isLost(job, held) || isAbandoned(job, terms)).toSorted(byPosition)
  const taken = [...late, ...lost].slice(0, terms.limit).toSorted(byPosition)
  const isRequeued = (job: StoredJob) => job.state === "running" && job.attempt < job.attemptsMax
  return {
    requeued: taken.filter(isRequeued).map((job) => ({
      ...requeued(job),
      aloneFrom: job.attempt + 1 < job.attemptsMax
        ? job.aloneFrom
        : DateTime.addDuration(held.now, terms.aloneDelay)
    })),
    exhausted: taken
      .filter((job) => !isRequeued(job))
      .map((job) => leased(job.state === "queued" ? counted(job) : job, terms, held.now))
  }
}

/** Queues a leased job again in its old position, without counting the attempt, and moves it to the given pool. */
export const release = (job: StoredJob | undefined, lease: Release): Decision.Decision<StoredJob, void, LeaseLost> =>
  underLease(job, lease, (job) => ({
    ...requeued(job),
    attempt: job.attempt - 1,
    kind: lease.pool === undefined ? job.kind : KindName.ofPool(KindName.baseOf(job.kind), lease.pool)
  }))

/** Stores a checkpoint, and whether the job is resumable. JSON null removes the checkpoint. */
export const checkpoint = (
  job: StoredJob | undefined,
  lease: Lease,
  { checkpoint, resumable }: Pick<Checkpoint, "checkpoint" | "resumable">
): Decision.Decision<StoredJob, void, LeaseLost> =>
  underLease(job, lease, (job) => ({ ...job, checkpoint: Option.fromNullOr(checkpoint), resumable }))

/** Orders jobs by their position. */
export const byPosition = (a: StoredJob, b: StoredJob): number => a.position - b.position

/** A job as its worker gets it. */
export const toClaimed = (job: StoredJob, claimedAt: DateTime.Utc): ClaimedJob => ({
  job: job.job,
  lane: job.lane,
  group: job.group,
  kind: job.kind,
  payload: job.payload,
  checkpoint: job.checkpoint,
  epoch: job.epoch,
  attempt: job.attempt,
  attemptsMax: job.attemptsMax,
  failures: job.failures,
  enqueuedAt: job.enqueuedAt,
  startedAt: job.startedAt ?? job.enqueuedAt,
  claimedAt,
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
  failures: job.failures,
  priority: job.priority,
  enqueuedAt: job.enqueuedAt,
  worker: Option.fromUndefinedOr(job.worker),
  dueAt: Option.none()
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

const leased = (job: StoredJob, { lease, worker }: LeaseTerms, now: DateTime.Utc): StoredJob => ({
  ...job,
  state: "running",
  epoch: job.epoch + 1,
  startedAt: job.startedAt ?? now,
  lease,
  leaseUntil: undefined,
  worker
})

const counted = (job: StoredJob): StoredJob => ({ ...job, attempt: job.attempt + 1 })

const requeued = (job: StoredJob): StoredJob => ({
  ...job,
  state: "queued",
  share: startedShare,
  lease: undefined,
  leaseUntil: undefined
})

const isClaimed = (
  { kind, resumable }: StoredJob,
  { kinds, resumableKinds = [] }: Pick<AloneQuestion, "kinds" | "resumableKinds">
): boolean => kinds.includes(kind) || (resumable && resumableKinds.includes(kind))

const mayRunAlone = ({ aloneFrom }: StoredJob, now: DateTime.Utc) =>
  aloneFrom !== undefined && millis(aloneFrom) <= millis(now)

const byAloneFrom = (a: StoredJob, b: StoredJob) => millis(a.aloneFrom) - millis(b.aloneFrom) || byPosition(a, b)

/** Returns whether a started job has exceeded its time limit while it waits for its next worker. */
const isLate = (job: StoredJob, now: DateTime.Utc) =>
  job.state === "queued" && job.startedAt !== undefined && endOf(job) <= millis(now)

/** When the time limit of a started job passes, in Unix milliseconds. */
const endOf = ({ startedAt, timeLimit = Infinity }: StoredJob) => millis(startedAt) + timeLimit

/** Returns whether the worker that runs the job is lost. */
const isLost = ({ lease, leaseUntil, state }: StoredJob, held: Held) =>
  state === "running" && (lease === undefined ? millis(leaseUntil) <= millis(held.now) : !isHeld(held, lease))

/** Returns whether the rescuer has leased the job, but does not run it. */
const isAbandoned = ({ job, lease, state }: StoredJob, terms: RescueTerms) =>
  state === "running" && terms.held !== undefined && lease === terms.lease && !terms.held.includes(job)

const millis = (time: DateTime.Utc | undefined) => time?.epochMilliseconds ?? 0
