/** Storage of the outcomes of sends, in sets and with retries. */
import * as Folding from "@kinora/persistence/Folding"
import * as StorageError from "@kinora/persistence/StorageError"
import { type DateTime, Effect, Schedule } from "effect"
import type { Claim } from "../../Delivery.ts"
import { type Settlement, WebhookStore } from "../../WebhookStore.ts"

/**
 * Stores outcomes. Both operations retry while the storage is unavailable, so that an
 * unavailable database neither loses an outcome nor uses up a send of the endpoint.
 */
export interface Settlements {
  /**
   * Stores an outcome and returns whether the claim still held. If the store rejects the line
   * of the log, stores the outcome without it, so that a delivered event is not sent again.
   */
  readonly settle: (settlement: Settlement) => Effect.Effect<boolean, StorageError.StorageError>
  /** Releases a claim that was not used. */
  readonly release: (claim: Claim, at: DateTime.Utc) => Effect.Effect<void, StorageError.StorageError>
}

/** Creates the settlements of a worker. Concurrent calls of `settle` share one statement. */
export const make = Effect.gen(function*() {
  const store = yield* WebhookStore
  const settle = yield* Folding.make({
    name: "DeliveryWorker.settle",
    membersMax: settledMax,
    keyOf: ({ delivery }: Settlement) => delivery,
    run: (settlements: ReadonlyArray<Settlement>) =>
      Effect.map(store.settle(settlements), (settled) => {
        const held = new Set(settled)
        return settlements.map(({ delivery }) => held.has(delivery))
      })
  })
  const untilStored = makeRetry()

  const settleWithoutSend = (settlement: Settlement) => (error: StorageError.StorageError) =>
    settlement.send === null ? Effect.fail(error) : Effect.andThen(
      Effect.logError("Failed to log a webhook send, storing its outcome without it", error),
      untilStored(settle({ ...settlement, send: null }))
    )

  return {
    settle: (settlement) => Effect.catch(untilStored(settle(settlement)), settleWithoutSend(settlement)),
    release: (claim, at) => untilStored(store.release([claim], at))
  } satisfies Settlements
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Outcomes stored by one statement. */
const settledMax = 256

const retries = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.jittered
)

/** Retries until the storage is available again, and logs the first failure of an outage. */
const makeRetry = () => {
  let isUnavailable = false
  const logFirst = (error: StorageError.StorageError) =>
    Effect.suspend(() => {
      const isKnown = isUnavailable
      isUnavailable = true
      return isKnown ? Effect.void : Effect.logWarning("Failed to store outcomes of webhooks, retrying", error)
    })
  return <A>(effect: Effect.Effect<A, StorageError.StorageError>) =>
    effect.pipe(
      // The driver may report a lost connection as a defect.
      Effect.catchCause((cause) => {
        const failure = StorageError.findInCause("DeliveryWorker.settle", cause)
        return failure === undefined ? Effect.failCause(cause) : Effect.fail(failure)
      }),
      Effect.tapError(logFirst),
      Effect.tap(() =>
        Effect.sync(() => {
          isUnavailable = false
        })
      ),
      Effect.retry({ schedule: retries, while: (error) => error.isRetryable })
    )
}
