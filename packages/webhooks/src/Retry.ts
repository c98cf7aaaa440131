/** When a delivery is sent again, and when it is given up. Pure. */
import { DateTime, Duration } from "effect"
import type { Claimed, Outcome } from "./Delivery.ts"
import type { Settlement } from "./WebhookStore.ts"

/** Pauses between the end of a failed send and the next send; one send more than there are pauses. */
export type Schedule = ReadonlyArray<Duration.Duration>

/** Four sends: at once, and 10, 60 and 300 seconds after the failed one before (D46). */
export const defaultSchedule: Schedule = [Duration.seconds(10), Duration.seconds(60), Duration.seconds(300)]

/**
 * Whether a claim may be used for a send. Crashes leave claims of which nobody knows
 * whether they were sent; there is at most one send more than the schedule has (D46).
 */
export const maySend = ({ attempt, failedSends }: Claimed, schedule: Schedule): boolean =>
  failedSends <= schedule.length && attempt <= attemptsMax(schedule)

/** What follows from a send that ended at `endedAt`. */
export const after = (
  { attempt, failedSends }: Claimed,
  { reason }: Outcome,
  endedAt: DateTime.Utc,
  schedule: Schedule
): Settlement["next"] => {
  if (reason === "ok") return { _tag: "Delivered" }
  // Nobody waits for a claim that could not be used.
  const isLast = reason === "disabled" || attempt >= attemptsMax(schedule)
  const pause = isLast ? undefined : schedule[failedSends]
  return pause === undefined
    ? { _tag: "Failed" }
    : { _tag: "Again", dueAt: DateTime.addDuration(endedAt, pause) }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The first send, one after each pause, and one for those that crashes left unknown. */
const attemptsMax = (schedule: Schedule): number => schedule.length + 2
