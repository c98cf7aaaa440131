/** The refusals of idempotency as errors of JavaScript. */
import { errorsByTag, errorsOf, ownMessage } from "@kinora/persistence/PromiseApi"
import type * as Refusal from "../../IdempotencyError.ts"
import type { LeaseLost } from "../../Responses.ts"

/** A request was refused. Nothing was claimed. */
export abstract class IdempotencyError extends Error {
  /** Names the refusal, for programs. */
  abstract readonly code: string
}

const define = errorsOf(IdempotencyError)

/**
 * Another request is claiming the key, and did not end within the `lock_timeout` of the database. The client may send the
 * request again.
 */
export class InProgressError extends define("in_progress", ownMessage<Refusal.InProgress>) {}

/** The key belongs to a request with another body. */
export class KeyReusedError extends define("key_reused", ownMessage<Refusal.KeyReused>) {}

/** The key is not 1 to 255 characters of printable ASCII. Field: `key`. */
export class InvalidKeyError extends define(
  "invalid_key",
  (_refusal: { readonly key: string }) => "An idempotency key must have 1 to 255 characters of printable ASCII"
) {}

/** A repetition of the request has begun, since its lease had expired. Its response is not stored. */
export class LeaseLostError extends define("lease_lost", ownMessage<LeaseLost>) {}

/** Returns the error that a call throws for a refusal. */
export const errorOf = errorsByTag<Refusal.IdempotencyError["reason"], IdempotencyError>({
  InProgress: InProgressError,
  KeyReused: KeyReusedError
})
