/**
 * Tokens of sessions and codes of sign-in links: 64 hexadecimal characters of 256 random bits.
 *
 * A plain SHA-256 suffices to store them, since 256 random bits cannot be guessed.
 */
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Hex } from "effect/encoding"

/** Creates a token. */
export const make: Effect.Effect<Redacted.Redacted, never, SecureRandom.SecureRandom> = Effect.flatMap(
  SecureRandom.SecureRandom,
  (random) => Effect.map(random.randomBytes(32), (bytes) => Redacted.make(Hex.encode(bytes), { label: "SessionToken" }))
)

/** Returns whether `text` has the length and alphabet of a token. A well-formed token need not exist. */
export const isWellFormed = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

export {
  /** Returns the SHA-256 of a token as 64 lower-case hexadecimal characters, for storage. */
  hash
} from "@kinora/persistence/SecretToken"
