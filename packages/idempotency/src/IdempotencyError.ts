/** What this package refuses by failing: everything else is an outcome, see `Claim`. */
import { Schema } from "effect"

/**
 * Another request holds the key and has not been decided within the database's
 * `lock_timeout` (the host sets it, 10 s by D14). The unit is over; answer 409
 * `idempotency_in_progress` and let the client come back. Memory never waits.
 */
export class InProgress extends Schema.TaggedError<InProgress>("@kinora/idempotency/InProgress")("InProgress", {}) {}

/** The key belongs to a request with another body. Only `Idempotency.once` fails with it. */
export class KeyReused extends Schema.TaggedError<KeyReused>("@kinora/idempotency/KeyReused")("KeyReused", {}) {}

/** Everything that `Idempotency` refuses to do. */
export class IdempotencyError
  extends Schema.TaggedError<IdempotencyError>("@kinora/idempotency/IdempotencyError")("IdempotencyError", {
    reason: Schema.Union([InProgress, KeyReused])
  })
{}
