/**
 * Delayed jobs. A delayed job is stored apart from the jobs of its lane, takes no slot, and does not count as
 * waiting. When it is due, it is placed in its lane like a job that is enqueued at that time, under the cap and the weight that
 * the lane has at that time.
 */
import { DateTime, Duration, Option, type Schema } from "effect"
import type { JobAddress, JobStatus, Lease } from "../Job.ts"
import type { Delay } from "./requests.ts"

/** The part of a job that it keeps while it is delayed. */
interface Delayed extends JobAddress, Lease {
  readonly kind: string
  readonly priority: number
  readonly payload: Schema.Json
  readonly attemptsMax: number
  /** Milliseconds. */
  readonly timeLimit: number | undefined
  /** `undefined`: the default of the scheduler that places it. */
  readonly waitingMax: number | undefined
  readonly uniqueKey: string | undefined
}

/** A delayed job to insert. */
export interface NewDelayed extends Delayed {
  readonly due: Due
}

/** When a job is due: at a time, or a number of milliseconds from now. */
export type Due = { readonly at: DateTime.Utc; readonly millis: undefined } | {
  readonly at: undefined
  readonly millis: number
}

/** A delayed job as a store holds it. */
export interface StoredDelayed extends Delayed {
  readonly enqueuedAt: DateTime.Utc
  readonly dueAt: DateTime.Utc
  /** When it is placed: at first when it is due, and later after the queue of its group was full. */
  readonly tryAt: DateTime.Utc
  /** How often its group was full when it was to be placed. */
  readonly refusals: number
  readonly checkpoint: Option.Option<Schema.Json>
  /** Runs that failed. */
  readonly failures: number
}

/** A due job that is tried again later, since it could not be placed. */
export interface Postponed {
  readonly job: string
  readonly millis: number
}

/** Longest delay, since databases have no later times. */
export const delayMax = Duration.days(36_500)

/**
 * Returns when a job is due, or `undefined` if it has no delay. Throws if it has both a delay and a time, and if it is
 * due too late.
 */
export const dueOf = ({ delay, runAt }: Delay): Due | undefined => {
  if (delay !== undefined && runAt !== undefined) throw new Error("A job has either `delay` or `runAt`")
  if (runAt !== undefined) {
    const at = DateTime.toUtc(DateTime.makeUnsafe(runAt))
    if (DateTime.isGreaterThan(at, runAtMax)) throw new Error("`runAt` is after the year 9999")
    return { at, millis: undefined }
  }
  const millis = delay === undefined ? 0 : Math.ceil(Duration.toMillis(delay))
  if (millis > Duration.toMillis(delayMax)) throw new Error(`A delay has at most ${Duration.toDays(delayMax)} days`)
  return millis > 0 ? { at: undefined, millis } : undefined
}

/** The place of a stored job. */
export const placeOfDelayed = ({ epoch, group, job, lane, uniqueKey }: StoredDelayed) =>
  ({ job, lane, group, state: "delayed", epoch, uniqueKey }) as const

/** The status of a stored job. */
export const toStatus = (job: StoredDelayed): JobStatus => ({
  job: job.job,
  lane: job.lane,
  group: job.group,
  state: "delayed",
  epoch: job.epoch,
  kind: job.kind,
  attempt: 0,
  failures: job.failures,
  priority: job.priority,
  enqueuedAt: job.enqueuedAt,
  worker: Option.none(),
  dueAt: Option.some(job.dueAt)
})

/** Returns the jobs that are due, the earliest first. */
export const dueOnes = (jobs: Iterable<StoredDelayed>, now: DateTime.Utc): ReadonlyArray<StoredDelayed> =>
  Array.from(jobs)
    .filter(({ tryAt }) => DateTime.isLessThanOrEqualTo(tryAt, now))
    .toSorted((a, b) => a.dueAt.epochMilliseconds - b.dueAt.epochMilliseconds || (a.job < b.job ? -1 : 1))

/** Returns the time until the next job is due, or zero. */
export const dueIn = (jobs: Iterable<StoredDelayed>, now: DateTime.Utc): Option.Option<Duration.Duration> => {
  const next = Array.from(jobs).reduce((next, { tryAt }) => Math.min(next, tryAt.epochMilliseconds), Infinity)
  return next === Infinity ? Option.none() : Option.some(Duration.millis(Math.max(0, next - now.epochMilliseconds)))
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const runAtMax = DateTime.makeUnsafe("9999-12-31T23:59:59.999Z")
