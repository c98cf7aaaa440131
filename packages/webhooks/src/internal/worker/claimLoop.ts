/** The loop that claims due deliveries and starts their sends. */
import * as StorageError from "@kinora/persistence/StorageError"
import { DateTime, Duration, Effect } from "effect"
import { restFor, start } from "./ClaimedDelivery.ts"
import { monotonicMillis, pause } from "./clock.ts"
import type { Parts } from "./Parts.ts"
import type { Asked } from "./Slots.ts"

/** Claims whenever a slot or an endpoint becomes available. */
export const claimLoop = (parts: Parts): Effect.Effect<never> =>
  Effect.gen(function*() {
    yield* parts.slots.changed.await
    const [took] = yield* Effect.timed(claimDue(parts))
    yield* pause(Duration.min(took, parts.lookPause))
  }).pipe(Effect.forever)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Deliveries of one claim. */
const claimMax = 128

/** Pause after a claim that failed because the storage is unavailable. */
const claimRetryDelay = Duration.seconds(1)

/** Pause between a claim that found nothing and the poll that follows it. */
const emptyPause = Duration.millis(100)

const claimDue = (parts: Parts): Effect.Effect<void> =>
  Effect.gen(function*() {
    parts.slots.changed.closeUnsafe()
    const now = yield* DateTime.now
    const monotonic = yield* monotonicMillis
    const asked = parts.slots.ask({ now: now.epochMilliseconds, monotonic }, claimMax)
    if (asked.length === 0) return
    yield* Effect.catchCause(claimAndStart(parts, asked, now), (cause) => {
      const failure = StorageError.findInCause("DeliveryWorker.claim", cause)
      return failure?.isRetryable === true ? Effect.fail(failure) : claimEach(parts, asked, now)
    })
    parts.slots.changed.openUnsafe()
  }).pipe(
    // Claimed deliveries are started even if the worker stops during the claim.
    Effect.uninterruptible,
    Effect.catchCause((cause) =>
      Effect.logError("Failed to claim webhooks, retrying", cause).pipe(
        Effect.andThen(Effect.sleep(claimRetryDelay)),
        Effect.andThen(parts.slots.changed.open)
      )
    )
  )

const claimAndStart = Effect.fnUntraced(function*(parts: Parts, asked: ReadonlyArray<Asked>, now: DateTime.Utc) {
  const until = DateTime.addDuration(now, parts.lease)
  const times = { until, restedAt: DateTime.addDuration(now, restFor) }
  const { sendable, taken } = yield* parts.claim(asked, now, times)
  // The claim returned after a drain gave up. If the release fails, the deliveries are due again when their leases end.
  if (parts.hasGivenUp) return yield* parts.store.release(sendable, now)
  // The claim does not return when the next delivery of an endpoint is due, so a new poll finds out.
  if (parts.slots.answer(asked, taken)) yield* pollAgain(parts, now, taken.length === 0)
  yield* Effect.forEach(sendable, (claimed) => start(parts, claimed, until), { discard: true })
})

/**
 * Requests a poll. After an empty claim the poll is delayed, since polls return deliveries that the open transaction of another
 * worker holds.
 */
const pollAgain = (parts: Parts, now: DateTime.Utc, isEmpty: boolean) => {
  const poll = Effect.sync(() => parts.dueEndpoints.at(now))
  return isEmpty
    ? Effect.forkChild(Effect.interruptible(Effect.andThen(Effect.sleep(emptyPause), poll)))
    : poll
}

/** Claims endpoint by endpoint, so that corrupt rows of one endpoint do not stop the others. */
const claimEach = (parts: Parts, asked: ReadonlyArray<Asked>, now: DateTime.Utc) =>
  Effect.forEach(asked, (one) =>
    Effect.catchCause(claimAndStart(parts, [one], now), (cause) => {
      parts.slots.rest(one.endpoint, DateTime.addDuration(now, restFor).epochMilliseconds)
      return Effect.annotateLogs(
        Effect.logError("Failed to claim the webhooks of an endpoint, retrying in a minute", cause),
        { endpoint: one.endpoint }
      )
    }), { discard: true })
