/** Keeps what came of sends, in sets, for as long as it takes. */
import * as Folding from "@kinora/persistence/Folding"
import * as StorageError from "@kinora/persistence/StorageError"
import { type DateTime, Effect, Schedule } from "effect"
import type { Claim } from "../../Delivery.ts"
import { type Settlement, WebhookStore } from "../../WebhookStore.ts"

/** Both are repeated while the storage is away: nothing is lost by it, and no endpoint pays for it. */
interface Settling {
  /**
   * Answers whether the claim still held. When the store refuses the line of the log,
   * what becomes of the delivery is kept without it: what was delivered is not sent again.
   */
  readonly settle: (settlement: Settlement) => Effect.Effect<boolean, StorageError.StorageError>
  /** Gives back a claim that was not used. */
  readonly release: (claim: Claim, at: DateTime.Utc) => Effect.Effect<void, StorageError.StorageError>
}

/** See `Settling`. */
export const make = Effect.gen(function*() {
  const store = yield* WebhookStore
  let isAway = false
  const noteFailure = (error: StorageError.StorageError) =>
    Effect.suspend(() => {
      const known = isAway
      isAway = true
      return known
        ? Effect.void
        : Effect.logWarning("What came of webhooks cannot be stored now; it is kept until it can", error)
    })

  const settle = Folding.make({
    name: "DeliveryWorker.settle",
    membersMax: settledMax,
    run: (settlements: ReadonlyArray<Settlement>) =>
      Effect.map(store.settle(settlements), (settled) => {
        const held = new Set(settled)
        return settlements.map(({ delivery }) => held.has(delivery))
      })
  })

  const untilStored = <A>(effect: Effect.Effect<A, StorageError.StorageError>) =>
    effect.pipe(
      // A lost connection may come as a defect.
      Effect.catchCause((cause) => {
        const failure = StorageError.findInCause("DeliveryWorker.settle", cause)
        return failure === undefined ? Effect.failCause(cause) : Effect.fail(failure)
      }),
      Effect.tapError(noteFailure),
      Effect.tap(() =>
        Effect.sync(() => {
          isAway = false
        })
      ),
      Effect.retry({ schedule: retries, while: (error) => error.isRetryable })
    )

  const settleWithoutLine = (settlement: Settlement) => (error: StorageError.StorageError) =>
    settlement.send === null ? Effect.fail(error) : Effect.andThen(
      Effect.logError("The log of an endpoint lacks a send, which cannot be stored", error),
      untilStored(settle({ ...settlement, send: null }))
    )

  return {
    settle: (settlement) => Effect.catch(untilStored(settle(settlement)), settleWithoutLine(settlement)),
    release: (claim, at) => untilStored(store.release([claim], at))
  } satisfies Settling
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Sends that one statement settles. */
const settledMax = 256

const retries = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.jittered
)
