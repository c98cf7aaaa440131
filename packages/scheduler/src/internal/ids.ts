/** Names for the strings that identify things. */

/** A UUID in lower case that the caller assigns, unique among the jobs that have not ended. */
export type JobId = string

/** The caller's name of a lane, at most 128 characters. */
export type LaneId = string

/** The caller's name of a group of lanes, at most 128 characters. A lane never changes its group. */
export type GroupId = string
