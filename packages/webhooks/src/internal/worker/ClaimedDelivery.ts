/** A claimed delivery, from its send until its outcome is stored. */
import { type Cause, DateTime, Duration, Effect } from "effect"
import type { Settlement } from "../../WebhookStore.ts"
import { ifTraced } from "../ifTraced.ts"
import type { Sendable } from "./Claims.ts"
import type { Parts } from "./Parts.ts"
import type { Slot } from "./Slots.ts"

/** How long deliveries rest after a fault of the service itself. */
export const restFor = Duration.minutes(1)

/** Starts the send of a claimed delivery on its own fiber. */
export const start = (parts: Parts, claimed: Sendable, until: DateTime.Utc): Effect.Effect<void> => {
  const slot: Slot = { claimed, until: until.epochMilliseconds, sendingSince: undefined, isOver: false }
  return parts.slots.hold(
    slot,
    sendAndSettle(parts, claimed, slot).pipe(
      Effect.catchCause((cause) =>
        Effect.logError("Failed to store the outcome of a webhook, which is due again when its lease ends", cause)
      ),
      ifTraced(Effect.withSpan("DeliveryWorker.send", { root: true, attributes: { attempt: claimed.attempt } }, {
        captureStackTrace: false
      })),
      Effect.annotateLogs({ delivery: claimed.delivery, endpoint: claimed.endpoint.id })
    )
  )
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const sendAndSettle = Effect.fnUntraced(function*(parts: Parts, claimed: Sendable, slot: Slot) {
  const verdict = yield* parts.send(claimed, slot)
  if (verdict._tag === "Unused") return yield* release(parts, claimed, verdict.cause)
  const { settlement } = verdict
  parts.slots.end(slot, isGood(parts, settlement))
  yield* parts.settlements.settle(settlement)
  if (settlement.next._tag === "Again") parts.dueEndpoints.at(settlement.next.dueAt)
})

/** Whether the endpoint accepted the send in time; `undefined` if no request was made. */
const isGood = ({ slowAfter }: Parts, { send }: Settlement): boolean | undefined =>
  send === null || send.outcome.reason === "disabled"
    ? undefined
    : send.outcome.reason === "ok" && send.durationMillis <= slowAfter

/**
 * Releases a claim that was not used. If the request could not be made, the endpoint rests,
 * because its other deliveries could not be sent either.
 */
const release = Effect.fnUntraced(function*(parts: Parts, claimed: Sendable, cause: Cause.Cause<never> | undefined) {
  const now = yield* DateTime.now
  const at = cause === undefined ? now : DateTime.addDuration(now, restFor)
  if (cause !== undefined) {
    parts.slots.rest(claimed.endpoint.id, at.epochMilliseconds)
    yield* Effect.logError("Failed to sign a webhook, retrying in a minute", cause)
  }
  yield* parts.settlements.release(claimed, at)
  parts.dueEndpoints.at(at)
})
