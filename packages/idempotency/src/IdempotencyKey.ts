/**
 * What tells a repeated request from a new one: the key that the client sent, or,
 * without one, the endpoint and the body themselves (D14).
 */
import { Data } from "effect"

/**
 * The two kinds never match each other.
 *
 * - `Explicit`: the client's key. Good at every endpoint that shares the scope.
 * - `Implicit`: no key was sent. Matches requests without a key and with the same
 *   body at the same `endpoint`, at most 128 characters.
 */
export type IdempotencyKey = Data.TaggedEnum<{
  Explicit: { readonly text: string }
  Implicit: { readonly endpoint: string }
}>

/** Constructors and matchers. Text from outside goes through `parse`. */
export const IdempotencyKey = Data.taggedEnum<IdempotencyKey>()

/**
 * The key in an `Idempotency-Key` header as it was sent, quotes included;
 * `undefined` when it is not 1 to 255 characters of printable ASCII (0x20 to 0x7E, D14).
 */
export const parse = (text: string): IdempotencyKey | undefined =>
  pattern.test(text) ? IdempotencyKey.Explicit({ text }) : undefined

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const pattern = /^[\x20-\x7e]{1,255}$/
