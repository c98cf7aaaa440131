/** Ids for rules that are decided without effects. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"

/** Answers a new UUIDv7 at every call. */
export type IdSequence = () => string

/**
 * A sequence that begins at a random UUIDv7 of now and counts on from there in its
 * last 62 bits. Two sequences meet with the chance that two random ids do.
 */
export const make: Effect.Effect<IdSequence, never, SecureRandom.SecureRandom> = SecureRandom.SecureRandom.use(
  (random) => Effect.map(random.uuidV7(), from)
)

/** The sequence that begins after `uuid`. */
export const from = (uuid: string): IdSequence => {
  const bits = BigInt(`0x${uuid.replaceAll("-", "")}`)
  const fixed = bits >> counterBits << counterBits
  let counter = bits - fixed
  return () => {
    counter = BigInt.asUintN(Number(counterBits), counter + 1n)
    const hex = (fixed + counter).toString(16).padStart(32, "0")
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What follows a UUID's version and variant. */
const counterBits = 62n
