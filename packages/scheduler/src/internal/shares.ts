/**
 * The order in which lanes are served. The share of a queued job is the number of jobs that got
 * a slot of its lane before it and have not ended, divided by the weight of the lane. Jobs with
 * the smallest share are claimed first, then those that got their slots first. The jobs of a lane
 * are claimed in order, so among the lanes with queued jobs the one with the fewest running jobs
 * per weight is next, also within one claim of several jobs.
 *
 * A claim changes no share. The end of a job changes those of its lane, so they are written
 * under the lock of the lane. `internal/sql/restamps.ts` states `restamp` in SQL.
 */
import type { DateTime } from "effect"

/** Jobs before a job that its share counts at most, so that the end of a job changes few others. */
export const aheadMax = 16

/** The share of a job that has not started, with this number of jobs before it in its lane. */
export const shareOf = (ahead: number, weight: number): number => Math.min(ahead, aheadMax) / weight

/** The share of a job that has started, so that it continues before others start. */
export const startedShare = 0

/** A lane whose queued jobs get other shares. */
export interface Restamp {
  readonly lane: string
  readonly weight: number
  /** Jobs of the lane that hold a slot, oldest first, that are looked at. `undefined`: all. */
  readonly limit: number | undefined
}

/** The part of a stored job that its share depends on. */
interface HeldJob {
  readonly state: "pending" | "queued" | "running"
  readonly startedAt: DateTime.Utc | undefined
  readonly position: number
  readonly share: number
}

/** Returns the queued jobs of a lane whose share has changed, given all its jobs that hold a slot. */
export const restamp = <Job extends HeldJob>(
  held: Iterable<Job>,
  { limit, weight }: Pick<Restamp, "limit" | "weight">
): ReadonlyArray<Job> =>
  Array.from(held)
    .toSorted((a, b) => a.position - b.position)
    .slice(0, limit)
    .map((job, ahead) => ({ before: job, after: { ...job, share: shareOf(ahead, weight) } }))
    .filter(({ after, before }) =>
      before.state === "queued" && before.startedAt === undefined && after.share !== before.share
    )
    .map(({ after }) => after)
