/** Cron schedules whose payloads are JSON. */
import type { CallOptions } from "@kinora/persistence/promise"
import { DateTime, type Schema } from "effect"
import * as CronSchedule from "../../CronSchedule.ts"
import type { CronScheduleOptions } from "../requests.ts"
import { kindOf } from "./handlers.ts"

/** The job of each tick of a cron expression, and when it is enqueued. */
export interface Schedule extends Omit<CronScheduleOptions<Schema.Json>, "kind" | "payload"> {
  /** The name by which handlers are chosen. */
  readonly kind: string
  /** Restricts the jobs to workers that serve this pool of the kind. Default: none. */
  readonly pool?: string | undefined
  /** Returns the payload of the job of a tick. */
  readonly payload: (tick: Date) => Schema.Json
}

/** Options of `schedule`. */
export interface ScheduleOptions {
  /** At most 100, with different names. */
  readonly schedules: ReadonlyArray<Schedule>
  /** Ends the schedules of this process when it aborts, like `close`. */
  readonly signal?: CallOptions["signal"]
}

/** The schedules of this process. */
export interface Schedules extends AsyncDisposable {
  /** Ends them in this process. Other processes that have them continue. Idempotent. */
  readonly close: () => Promise<void>
}

/** Returns the schedule of the service. Throws like `CronSchedule.make`. */
export const scheduleOf = ({ kind, payload, pool, ...options }: Schedule): CronSchedule.CronSchedule =>
  CronSchedule.make({
    ...options,
    kind: kindOf(kind, pool),
    payload: (tick) => payload(DateTime.toDate(tick))
  })
