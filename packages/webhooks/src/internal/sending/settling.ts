/** Keeps what came of sends, in sets, for as long as it takes. */
import * as Folding from "@kinora/persistence/Folding"
import type { StorageError } from "@kinora/persistence/StorageError"
import { type DateTime, Effect, Schedule } from "effect"
import type { Claim } from "../../Delivery.ts"
import { type Settlement, WebhookStore } from "../../WebhookStore.ts"

/** Both are repeated while the storage is away: nothing is lost by it, and no endpoint pays for it. */
export interface Settling {
  /** Answers whether the claim still held. */
  readonly settle: (settlement: Settlement) => Effect.Effect<boolean, StorageError>
  /** Gives back a claim that was not used. */
  readonly release: (claim: Claim, at: DateTime.Utc) => Effect.Effect<void, StorageError>
}

/** See `Settling`. */
export const make = Effect.gen(function*() {
  const store = yield* WebhookStore
  let isAway = false
  const noteFailure = (error: StorageError) =>
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
      store.settle(settlements).pipe(
        Effect.map((settled) => {
          isAway = false
          const held = new Set(settled)
          return settlements.map(({ delivery }) => held.has(delivery))
        }),
        Effect.tapError(noteFailure)
      )
  })

  const untilStored = <A>(effect: Effect.Effect<A, StorageError>) =>
    Effect.retry(effect, { schedule: retries, while: (error) => error.isRetryable })

  return {
    settle: (settlement) => untilStored(settle(settlement)),
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
