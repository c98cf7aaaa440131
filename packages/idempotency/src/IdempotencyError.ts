/** The errors of idempotency. Replays are outcomes, not errors. */
import { Schema } from "effect"

/**
 * Another request is claiming the key and did not finish within the `lock_timeout` of the
 * database, which the host sets. The unit of work has ended; the client may send the
 * request again. In memory a claim never waits.
 */
export class InProgress extends Schema.TaggedError<InProgress>("@kinora/idempotency/InProgress")("InProgress", {}) {
  override get message(): string {
    return "Another request with this idempotency key is in progress"
  }
}

/** The key belongs to a request with another body. Only `Idempotency.once` fails with it. */
export class KeyReused extends Schema.TaggedError<KeyReused>("@kinora/idempotency/KeyReused")("KeyReused", {}) {
  override get message(): string {
    return "The idempotency key belongs to a request with another body"
  }
}

/** A request could not be claimed. See `reason`. */
export class IdempotencyError
  extends Schema.TaggedError<IdempotencyError>("@kinora/idempotency/IdempotencyError")("IdempotencyError", {
    reason: Schema.Union([InProgress, KeyReused]),
    /** The lock timeout, if the reason is `InProgress`. A unit of work runs again after one. */
    cause: Schema.optionalKey(Schema.Defect())
  })
{
  override get message(): string {
    return this.reason.message
  }
}
