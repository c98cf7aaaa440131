/** Identifies repetitions of a request: by the key that the client sent, or by endpoint and body without one. */
import { Data } from "effect"

/**
 * Key of a request. The two kinds never match each other.
 *
 * - `Explicit`: the key that the client sent. Matches at every endpoint that shares the scope.
 * - `Implicit`: the client sent no key. Matches requests without a key and with the same
 *   body at the same `endpoint`, which has at most 128 characters.
 */
export type IdempotencyKey = Data.TaggedEnum<{
  Explicit: { readonly text: string }
  Implicit: { readonly endpoint: string }
}>

/** Constructors and matchers. Create explicit keys from untrusted text with `parse`. */
export const IdempotencyKey = Data.taggedEnum<IdempotencyKey>()

/**
 * Returns the key of an `Idempotency-Key` header, with its quotes if it has any. Returns
 * `undefined` unless it is 1 to 255 characters of printable ASCII (0x20 to 0x7E).
 */
export const parse = (text: string): IdempotencyKey | undefined =>
  pattern.test(text) ? IdempotencyKey.Explicit({ text }) : undefined

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pattern = /^[\x20-\x7e]{1,255}$/
