/** Jobs, their states, and the right to work on them. */
import type { DateTime, Duration, Option, Schema } from "effect"

/** A job, and the lane whose slot it holds or waits for. */
export interface JobAddress {
  /** A UUID in lower case, or another text of 1 to 255 characters, that the caller assigns. Unique among the jobs that have not
   * ended. */
  readonly job: string
  /** The caller's name of the lane, at most 128 characters. */
  readonly lane: string
  /** The caller's name of the lane's group, at most 128 characters. A lane never changes its group. */
  readonly group: string
}

/**
 * The right to work on a job, while the lease of its worker holds. Each claim, and each rescue
 * of a job without attempts left, increments the epoch. A write under an older epoch changes
 * nothing.
 */
export interface Lease {
  readonly job: string
  readonly epoch: number
}

/**
 * A job that has not ended.
 *
 *     enqueue with a delay ───▶ delayed ───▶ decided like an enqueue when it is due
 *
 *                  slot free                    claim
 *     enqueue ───────────────────▶ queued ─────────────────▶ running ───▶ settle
 *        │                         ▲    ▲                     │  │ ▲
 *        │ no slot         promote │    └─────────────────────┘  └─┘
 *        └────────────▶ pending ◀──┘     release, rescue        rescue of a job
 *                                swap    (keeps its slot)       without attempts left
 *
 * - `delayed`: is not due yet. It neither holds a slot nor counts as waiting.
 * - `pending`: waits for a slot of its lane.
 * - `queued`: holds a slot and waits for a worker.
 * - `running`: holds a slot and is leased to a worker.
 *
 * `swapSlots` exchanges a queued job that no worker claims with a pending one that a worker claims.
 * `cancel` ends a delayed, pending or queued job, `settle` a running one. The scheduler deletes the
 * row of a job that ends; its outcome belongs to the application.
 */
export interface JobStatus extends JobAddress, Lease {
  readonly kind: string
  readonly state: "delayed" | "pending" | "queued" | "running"
  /** The current or last attempt, from 1. It is 0 before the first claim. */
  readonly attempt: number
  /** Runs that failed, after which the job was delayed to run again. */
  readonly failures: number
  /** From 0 to 100. Jobs of the lane with a higher one come first. */
  readonly priority: number
  /** When it was enqueued. Of a delayed job that became due: when it was placed in its lane. */
  readonly enqueuedAt: DateTime.Utc
  /** When a delayed job is due. `None` in the other states. */
  readonly dueAt: Option.Option<DateTime.Utc>
  /** The current or last worker. */
  readonly worker: Option.Option<string>
}

/** A job that is leased to the caller of `claim`. */
export interface ClaimedJob<Payload = Schema.Json> extends JobAddress, Lease {
  readonly kind: string
  readonly payload: Payload
  /** The last stored checkpoint. `None` if there is none, or if it was JSON null. */
  readonly checkpoint: Option.Option<Schema.Json>
  /** From 1. Claims that ended with `release` do not count. */
  readonly attempt: number
  readonly attemptsMax: number
  /** Runs that failed, after which the job was delayed to run again. */
  readonly failures: number
  /** When it was enqueued. Of a delayed job: when it was placed in its lane, after it became due. */
  readonly enqueuedAt: DateTime.Utc
  /** The time of the first claim since the last failure, over all attempts. Like all times of a job, it is the database's. */
  readonly startedAt: DateTime.Utc
  /** The time of this claim. The clock of the worker may differ, so measure how long the run takes from its start. */
  readonly claimedAt: DateTime.Utc
  /** How long the job may run after `startedAt`, over all attempts. */
  readonly timeLimit: Option.Option<Duration.Duration>
}
