/** The order in which the jobs of one claim start. Pure. */
import type { ClaimedJob } from "../../Job.ts"

/**
 * Returns the jobs with those of a lane next to each other, the lanes in the order of their first jobs. Jobs that start together
 * often end together, and a set that ends all jobs of a lane writes the counters of the lane and its group once.
 */
export const startOrder = (claimed: ReadonlyArray<ClaimedJob>): ReadonlyArray<ClaimedJob> =>
  Array.from(Map.groupBy(claimed, ({ lane }) => lane).values()).flat()
