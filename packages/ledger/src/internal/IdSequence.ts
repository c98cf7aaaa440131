/** Ids for pure functions: a sequence is a value, and drawing an id returns the rest of the sequence. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

/** A position in a sequence of UUIDv7s. */
export interface IdSequence {
  /** The bits that all ids of the sequence share: time, version and variant. */
  readonly fixed: bigint
  /** The last 62 bits of the previous id. */
  readonly counter: bigint
}

/**
 * Starts a sequence at a random UUIDv7 of the current time. Ids are counted up in the
 * last 62 bits, so two sequences overlap about as rarely as two random ids are equal.
 */
export const make: Effect.Effect<IdSequence, never, SecureRandom.SecureRandom> = SecureRandom.SecureRandom.use(
  (random) => Effect.map(random.uuidV7(), from)
)

/** Returns the sequence that continues after `uuid`. */
export const from = (uuid: string): IdSequence => {
  const bits = BigInt(`0x${uuid.replaceAll("-", "")}`)
  const fixed = bits >> counterBits << counterBits
  return { fixed, counter: bits - fixed }
}

/** Draws the next id. */
export const next = (sequence: IdSequence): { readonly uuid: string; readonly rest: IdSequence } => {
  const counter = BigInt.asUintN(Number(counterBits), sequence.counter + 1n)
  const hex = (sequence.fixed + counter).toString(16).padStart(32, "0")
  return {
    uuid: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
    rest: { fixed: sequence.fixed, counter }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The number of bits after a UUID's version and variant. */
const counterBits = 62n
