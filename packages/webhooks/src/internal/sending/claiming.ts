/** Takes deliveries under a lease, with the bytes that each send of them repeats (D43). */
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import { type Cause, DateTime, Effect, Exit, type Schema } from "effect"
import type { Claimed } from "../../Delivery.ts"
import type { BodyParts } from "../../DeliveryWorker.ts"
import type { Event } from "../../Event.ts"
import { type Demand, WebhookStore } from "../../WebhookStore.ts"

/** How bodies are made, and how much is claimed at once. */
export interface BodyOptions {
  readonly claimBytesMax?: number | undefined
  readonly complete?: ((event: Event) => Effect.Effect<Schema.Json>) | undefined
  readonly body?: ((parts: BodyParts) => Schema.Json) | undefined
  readonly bodyBytesMax?: number | undefined
}

/** A claimed delivery and its bytes. */
export interface Sendable extends Claimed {
  readonly body: Uint8Array
}

/** What was claimed. */
export interface Batch {
  /** Everything, to be compared with what was asked. */
  readonly taken: ReadonlyArray<Claimed>
  readonly sendable: ReadonlyArray<Sendable>
}

/** Claims in one unit with the bodies of first sends. Those whose body cannot be made are given back until `restedAt`. */
export const make = Effect.fnUntraced(function*(options: BodyOptions) {
  const { atomically } = yield* UnitOfWork
  const store = yield* WebhookStore

  const claim = Effect.fnUntraced(function*(demands: ReadonlyArray<Demand>, now: DateTime.Utc, times: Times) {
    const taken = yield* store.claim(demands, now, times.until, options.claimBytesMax ?? 8 * 1024 ** 2)
    const made: Array<Sendable> = []
    const sendable: Array<Sendable> = []
    const failed: Array<Claimed> = []
    let cause: Cause.Cause<never> | undefined
    for (const claimed of taken) {
      // A disabled endpoint gets none.
      if (claimed.body !== null || claimed.endpoint.status === "disabled") {
        sendable.push({ ...claimed, body: claimed.body ?? new Uint8Array() })
        continue
      }
      const body = yield* Effect.exit(makeBody(options, claimed))
      if (Exit.isSuccess(body)) made.push({ ...claimed, body: body.value })
      else {
        failed.push(claimed)
        cause ??= body.cause
      }
    }
    if (made.length > 0) yield* store.freeze(made)
    if (failed.length > 0) yield* store.release(failed, times.restedAt)
    return { taken, sendable: [...sendable, ...made], failed, cause }
  }, atomically)

  return (demands: ReadonlyArray<Demand>, now: DateTime.Utc, times: Times): Effect.Effect<Batch, StorageError> =>
    Effect.tap(
      claim(demands, now, times),
      ({ cause, failed }) =>
        cause === undefined ? Effect.void : Effect.annotateLogs(
          Effect.logError("Webhook bodies could not be made; they are tried again in a minute", cause),
          { deliveries: failed.map(({ delivery }) => delivery) }
        )
    )
})

/** What a claim sets. */
export interface Times {
  /** The end of its lease. */
  readonly until: DateTime.Utc
  /** When what cannot be sent is tried again. */
  readonly restedAt: DateTime.Utc
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const utf8 = new TextEncoder()

const makeBody = (
  { body = ownBody, bodyBytesMax = 2 * 1024 * 1024, complete }: BodyOptions,
  { delivery, event }: Claimed
) =>
  Effect.map(
    Effect.suspend(() => complete === undefined ? Effect.succeed(event.data) : complete(event)),
    (data) => {
      const parts = { id: delivery, type: event.type, createdAt: DateTime.formatIso(event.createdAt), data }
      const bytes = utf8.encode(JSON.stringify(body(parts)))
      if (bytes.length > bodyBytesMax) throw new BodyTooLarge(bytes.length)
      return bytes
    }
  )

class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge"
  constructor(bytes: number) {
    super(`The body would have ${bytes} bytes`)
  }
}

/** Section "Body" of the interface. */
const ownBody = ({ createdAt, data, id, type }: BodyParts): Schema.Json => ({ id, type, created_at: createdAt, data })
