/** A job as the scheduler knows it: its states, its lease, and what a worker gets when it claims one. */
import type { DateTime, Duration, Option, Schema } from "effect"

/** The caller's id of a job: a UUID in lower case, unique among the jobs that have not ended. */
export type JobId = string

/** The caller's id of a lane, at most 128 characters. */
export type LaneId = string

/** The caller's id of a group of lanes, at most 128 characters. A lane stays in its group for good. */
export type GroupId = string

/**
 * Where a job stands (D6).
 *
 *                  slot free                    claim
 *     enqueue ───────────────────▶ queued ─────────────────▶ running ───▶ settle
 *        │                         ▲    ▲                     │  │ ▲
 *        │ no slot         promote │    └─────────────────────┘  └─┘
 *        └────────────▶ pending ───┘     release, rescue        rescue of a job
 *                                        (keeps its slot)       without attempts left
 *
 * `pending` waits for a slot of its lane; `queued` holds one and waits for a worker;
 * `running` holds one under a lease. `cancel` ends a pending or queued job, `settle` a
 * running one. A job that ended has no state: its row is gone, its outcome belongs to
 * the application, and whoever still holds an old lease finds nothing to change.
 */
export type JobState = "pending" | "queued" | "running"

/** A job, and the lane whose slot it holds or waits for. */
export interface JobAddress {
  readonly job: JobId
  readonly lane: LaneId
  readonly group: GroupId
}

/**
 * The right to work on a job. Each claim and each rescue raises the epoch, so a
 * worker that was given up for lost holds an old one, with which nothing changes.
 */
export interface Lease {
  readonly job: JobId
  readonly epoch: number
}

/** A job as it stands. */
export interface JobStatus extends JobAddress, Lease {
  readonly kind: string
  readonly state: JobState
  /** The claim that it is at or was last at, from 1; 0 before the first. */
  readonly attempt: number
  readonly enqueuedAt: DateTime.Utc
  /** The worker that holds it or held it last. */
  readonly worker: Option.Option<string>
}

/** A job that the caller of `claim` now holds. */
export interface ClaimedJob<Payload = Schema.Json> extends JobAddress, Lease {
  readonly kind: string
  readonly payload: Payload
  /** What the last holder left; none when that was JSON null. */
  readonly checkpoint: Option.Option<Schema.Json>
  /** From 1. Does not count claims that ended with `release`. */
  readonly attempt: number
  readonly attemptsMax: number
  readonly enqueuedAt: DateTime.Utc
  /** When the first claim was made, also if that worker was lost. */
  readonly startedAt: DateTime.Utc
  /** How long after `startedAt` the job may run, over all attempts. */
  readonly timeLimit: Option.Option<Duration.Duration>
}
