/**
 * Priorities of jobs: which job of a lane is started next. A lane is served by its places, which are pairs of a share and a
 * position (`internal/shares.ts`). A queued job that has not started has a place, but need not be the one that is started when
 * its place is claimed: the job of the lane with the highest priority is, of those the oldest, and the two jobs exchange
 * their places. So priorities change neither the places of a lane nor the order in which lanes are served.
 *
 * Jobs with the priority 0 whose place was never exchanged have their places in the order of their age. All others are
 * `isAhead`: they come before those, and an index contains only them. `internal/sql/claims.ts` has the same rules in SQL.
 */
import type { DateTime } from "effect"
import { Result } from "effect"
import type { JobId, LaneId } from "./ids.ts"
import { InvalidPriority } from "./reasons.ts"

/** Highest priority of a job. The lowest one is 0. */
export const priorityMax = 100

/** Refuses a priority that is not a whole number from 0 to `priorityMax`. */
export const checkPriority = (
  { job, priority = 0 }: { readonly job: JobId; readonly priority?: number | undefined }
): Result.Result<void, InvalidPriority> =>
  Number.isInteger(priority) && priority >= 0 && priority <= priorityMax
    ? Result.void
    : Result.fail(new InvalidPriority({ job, priority, max: priorityMax }))

/** The part of a queued job that its turn in its lane depends on. */
interface QueuedJob {
  readonly job: JobId
  readonly lane: LaneId
  readonly priority: number
  readonly share: number
  readonly position: number
  /** Position of the place that the job had before it first exchanged it. `undefined`: it did not. */
  readonly ownPosition: number | undefined
  readonly startedAt: DateTime.Utc | undefined
}

/** Orders jobs by the highest priority, then by the lowest age. */
export const byPriority = (a: QueuedJob, b: QueuedJob): number => b.priority - a.priority || ageOf(a) - ageOf(b)

/** Orders jobs by their places. */
export const byPlace = <Job extends Pick<QueuedJob, "share" | "position">>(a: Job, b: Job): number =>
  a.share - b.share || a.position - b.position

/** Jobs that take the places of a claim, with these places, and those that lost theirs, with the ones that they got instead. */
export interface Exchanged<Job> {
  readonly claimed: ReadonlyArray<Job>
  readonly displaced: ReadonlyArray<Job>
}

/**
 * Exchanges the owners of the places that a claim has selected for the jobs of their lanes that come first, of those that the
 * worker may claim. A job that has started keeps its place.
 */
export const exchangePlaces = <Job extends QueuedJob>(
  selected: ReadonlyArray<Job>,
  claimable: ReadonlyArray<Job>
): Exchanged<Job> => {
  const ahead = Map.groupBy(claimable.filter(isAhead), ({ lane }) => lane)
  const pairs = Array.from(Map.groupBy(selected.filter(isUnstarted), ({ lane }) => lane))
    .flatMap(([lane, own]) => pairsOf(own, ahead.get(lane) ?? []))
  const newOwner = new Map(pairs.map(({ displaced, newcomer }) => [displaced.job, newcomer]))
  return {
    claimed: selected.map((job) => withPlaceOf(newOwner.get(job.job) ?? job, job)),
    displaced: pairs.map(({ displaced, newcomer }) => ({
      ...withPlaceOf(displaced, newcomer),
      ownPosition: ageOf(displaced)
    }))
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const ageOf = ({ ownPosition, position }: QueuedJob): number => ownPosition ?? position

const isUnstarted = ({ startedAt }: QueuedJob): boolean => startedAt === undefined

const isAhead = (job: QueuedJob): boolean => isUnstarted(job) && (job.priority > 0 || job.ownPosition !== undefined)

const withPlaceOf = <Job extends QueuedJob>(job: Job, { position, share }: QueuedJob): Job => ({
  ...job,
  share,
  position
})

/** The exchanges in a lane: its selected jobs that do not come first, and the jobs that do instead. */
const pairsOf = <Job extends QueuedJob>(own: ReadonlyArray<Job>, ahead: ReadonlyArray<Job>) => {
  const candidates = new Map([...own, ...ahead].map((job) => [job.job, job]))
  const inOrder = Array.from(candidates.values()).toSorted(byPriority)
  const isOwn = new Set(own.map(({ job }) => job))
  const newcomers = inOrder.slice(0, own.length).filter(({ job }) => !isOwn.has(job))
  const displaced = inOrder.slice(own.length).filter(({ job }) => isOwn.has(job))
  return displaced.map((displaced, index) => ({ displaced, newcomer: newcomers[index]! }))
}
