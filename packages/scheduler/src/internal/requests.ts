/** Arguments of the scheduler's operations. */
import type { Cron, DateTime, Duration, Schema } from "effect"
import type { JobAddress, Lease } from "../Job.ts"
import type { JobKind } from "../JobKind.ts"

/** Lanes and jobs to load. */
export interface LoadRequest {
  /** With the unique keys of jobs to enqueue. */
  readonly lanes?: ReadonlyArray<{ readonly lane: string; readonly group: string } & Unique> | undefined
  /** Jobs to cancel or settle. Their lanes are loaded too, if they exist. Jobs that do not exist are ignored. */
  readonly jobs?: ReadonlyArray<JobAddress> | undefined
}

/** The slots of a lane from now on. */
export interface CapCommand {
  readonly lane: string
  readonly group: string
  readonly cap: number
  /** Share of the lane in the workers. Default: as before. */
  readonly weight?: number | undefined
}

/** The unique key of a job. */
export interface Unique {
  /**
   * The job is refused with `DuplicateJob` while another job of its group has the same key and has not ended: delayed, pending,
   * queued, running, or between two runs. The key has 1 to 255 characters. Default: none.
   */
  readonly unique?: { readonly key: string } | undefined
}

/** Adds a job to a lane. */
export interface Enqueue<Payload> extends JobAddress, Unique {
  readonly kind: JobKind<Payload>
  readonly payload: Payload
  /** Slots of the lane from now on. Replaces the current cap if the command is accepted. */
  readonly cap: number
  /**
   * Share of the lane in the workers, relative to other lanes: a whole number from 1. Among lanes
   * with queued jobs, the one with the fewest running jobs per weight is served first. Replaces
   * the current weight if the command is accepted. Default 1.
   */
  readonly weight?: number | undefined
  /**
   * A whole number from 0 to 100. Of the waiting jobs of the lane, the one with the highest priority gets the next free slot,
   * and of those that hold a slot and have not started, the one with the highest priority starts first; of several, the oldest.
   * Does not change when the lane is served. Default 0.
   */
  readonly priority?: number | undefined
  /** Maximum number of waiting jobs in the whole group. Default: `waitingMax` of the scheduler, 20. */
  readonly waitingMax?: number | undefined
  /**
   * Maximum number of claims before the job can only be failed. The last one runs alone, unless
   * it is the only one. Default: `attemptsMax` of the scheduler, 3.
   */
  readonly attemptsMax?: number | undefined
  /** Time from the first start after which the job is failed, over all attempts. Default: none. */
  readonly timeLimit?: Duration.Input | undefined
}

/** When a job is due. At most one of the two. */
export interface Delay {
  /** Time from now, by the clock of the database, before which the job does not start, at most 36,500 days. Default: none. */
  readonly delay?: Duration.Input | undefined
  /** Time before which the job does not start, compared with the clock of the database, at most in the year 9999. Default: none. */
  readonly runAt?: DateTime.DateTime | Date | undefined
}

/** A command to enqueue, with its payload as JSON. */
export type AnyEnqueue = Enqueue<Schema.Json> & Delay

/** A job, and where it was placed. */
export type Placed = JobAddress & { readonly state: "delayed" | "pending" | "queued" }

/** A checkpoint to store, under the lease of its job. */
export interface CheckpointOptions extends Lease {
  /** JSON null removes the last checkpoint. */
  readonly checkpoint: Schema.Json
  /**
   * Whether the work continues elsewhere, so that the next worker of the job only follows it. A
   * worker claims such a job also if `room` of its pool is 0. Default `false`.
   */
  readonly resumable?: boolean | undefined
}

/** A command to forget a group. */
export interface ForgetCommand {
  readonly group: string
  /**
   * Whether to end running jobs too. Their workers lose the lease, and interrupt the runs at their next heartbeat. Default `false`:
   * running jobs are left.
   */
  readonly abort?: boolean | undefined
  /** The maximum number of jobs, or of lanes, in one unit of work, 1 to 10,000. Default 1,000. */
  readonly limit?: number | undefined
}

/** A lease to give back. */
export interface Release extends Lease {
  /** Moves the job to this pool of its kind. Default: the job stays in its pool. */
  readonly pool?: string | undefined
}

/** Selects the jobs to claim. A rescue has the same options. */
export interface ClaimOptions {
  /** The lease of the worker (`takeLease`). If it does not hold, nothing is claimed or rescued. */
  readonly lease: string
  /** Name of the worker, shown with its jobs. */
  readonly worker: string
  /** Names of kinds. A claim does not include their pools, which have their own names; a rescue does. */
  readonly kinds: ReadonlyArray<string>
  /**
   * Names of kinds of which only resumable jobs are claimed, in the same order as those of
   * `kinds`. A rescue ignores it. Default: none.
   */
  readonly resumableKinds?: ReadonlyArray<string> | undefined
  /** Maximum number of jobs. */
  readonly limit: number
  /**
   * Claims at most one job, of those that have to run alone, instead of the others. The worker
   * must run no other job beside it. A rescue ignores it. Default `false`.
   */
  readonly alone?: boolean | undefined
  /** Groups whose jobs are left out. A rescue ignores it. Default: none. */
  readonly except?: ReadonlyArray<string> | undefined
}

/** Selects the jobs to rescue. */
export interface RescueOptions extends ClaimOptions {
  /**
   * Jobs that run under the lease of the caller. The rescue takes over the other ones under this lease too: those whose
   * claim took effect although its response was lost, and those that could not be settled. No claim may be under way.
   * Default: the rescue leaves all jobs under this lease alone.
   */
  readonly held?: ReadonlyArray<string> | undefined
}

/** A worker that takes a lease, and what it claims. */
export interface LeaseOptions {
  /** Unique per start of a worker. */
  readonly id: string
  /** The name shown with the worker's jobs. */
  readonly worker: string
  /** Names of the kinds and pools that it claims, without duplicates. */
  readonly kinds: ReadonlyArray<string>
  /** Maximum number of jobs that it runs at the same time. */
  readonly slots: number
  /** Time until the lease expires unless it is renewed. */
  readonly ttl: Duration.Input
}

/** A lease to renew, and what its worker claims from now on. */
export interface RenewalOptions extends Pick<LeaseOptions, "kinds" | "ttl"> {
  readonly lease: string
}

/** Options of `CronSchedule.make`: the job of each tick, and when it is enqueued. */
export interface CronScheduleOptions<Payload> extends Omit<Enqueue<Payload>, "job" | "payload"> {
  /** Identifies the schedule in all processes and releases. 1 to 128 characters. */
  readonly name: string
  /** Minute, hour, day of the month, month and weekday; or a `Cron` with a time zone. At most one tick per minute. */
  readonly cron: string | Cron.Cron
  /** The time zone of an expression, such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string | undefined
  /** Returns the payload of the job of a tick. */
  readonly payload: (tick: DateTime.Utc) => Payload
  /** Number of ticks that are enqueued together if several are due, for example after a downtime: the newest. 1 to 100. Default 1. */
  readonly catchUp?: number | undefined
  /** Skips ticks that are enqueued later than this after their time, for example after a downtime. Default: none is too late. */
  readonly lateMax?: Duration.Input | undefined
}

/** Notifications of other processes. */
export interface NotificationOptions {
  /**
   * Whether units that queue jobs send a notification. Such units commit one after the other, so leave it out for
   * thousands of units per second. Default `true`.
   */
  readonly notify?: boolean | undefined
  /**
   * Whether the workers of this process wait for notifications, which takes one connection of the client. Leave it out
   * behind a pooler of transactions, and for a client with one connection. Default `true`, except with `maxConnections: 1`.
   */
  readonly listen?: boolean | undefined
}
