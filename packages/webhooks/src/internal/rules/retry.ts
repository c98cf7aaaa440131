/** Decides after a send whether a delivery is sent again. */
import { DateTime } from "effect"
import type { Claimed, Outcome } from "../../Delivery.ts"
import type { Schedule } from "../../Retry.ts"
import type { Settlement } from "../../WebhookStore.ts"

/**
 * Returns whether a claim may be used for a send. A crash leaves a claim of which it is unknown
 * whether it led to a send, so one attempt more than the schedule has sends is allowed.
 */
export const maySend = ({ attempt, failedSends }: Pick<Claimed, "attempt" | "failedSends">, schedule: Schedule) =>
  failedSends <= schedule.length && attempt <= attemptsMax(schedule)

/** Returns what follows from a send that ended at `endedAt`. */
export const after = (
  { attempt, failedSends }: Pick<Claimed, "attempt" | "failedSends">,
  { reason }: Outcome,
  endedAt: DateTime.Utc,
  schedule: Schedule
): Settlement["next"] => {
  if (reason === "ok") return { _tag: "Delivered" }
  // A further claim could not be used for a send.
  const isLast = reason === "disabled" || attempt >= attemptsMax(schedule)
  const pause = isLast ? undefined : schedule[failedSends]
  return pause === undefined
    ? { _tag: "Failed" }
    : { _tag: "Again", dueAt: DateTime.addDuration(endedAt, pause) }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The first send, one after each pause, and one for attempts with an unknown outcome. */
const attemptsMax = (schedule: Schedule): number => schedule.length + 2
