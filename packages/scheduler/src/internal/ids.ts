/** Names for the strings that identify things. */
import { Result } from "effect"
import { InvalidJobId } from "./reasons.ts"

/** A UUID in lower case or another text that the caller assigns, unique among the jobs that have not ended. */
export type JobId = string

/** The caller's name of a lane, at most 128 characters. */
export type LaneId = string

/** The caller's name of a group of lanes, at most 128 characters. A lane never changes its group. */
export type GroupId = string

/** Maximum number of characters of the id of a job. */
export const jobIdMax = 255

/** Refuses an id that databases cannot store, or that would be changed by an encoding. */
export const checkJobId = (job: JobId): Result.Result<void, InvalidJobId> =>
  job.length >= 1 && isShort(job) && job.isWellFormed() && !job.includes("\0")
    ? Result.void
    : Result.fail(new InvalidJobId({ job, max: jobIdMax }))

/** Returns whether the id of a job is a UUID, in any case. */
export const isUuid = (job: JobId): boolean => uuid.test(job)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Counts characters of two code units once, as databases do. */
const isShort = (job: JobId): boolean =>
  job.length <= jobIdMax || (job.length <= 2 * jobIdMax && Array.from(job).length <= jobIdMax)

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
