/**
 * Secrets that sign webhooks: `whsec_` followed by 52 characters for 256 random bits. The
 * whole text is the key of a `Signature`. Neither side removes the prefix or decodes the rest.
 * For Standard Webhooks the 52 characters are Base64, and the key is the 39 bytes that they encode.
 *
 * The characters are lower-case Crockford Base32: digits and letters without `i`, `l`, `o` and
 * `u`, which are easily confused. A double click selects the whole secret.
 */
import { randomBytes } from "./internal/Ambient.ts"

/** Prefix of every secret, by which people and secret scanners recognize it. */
export const prefix = "whsec_"

/** Number of random bytes in a secret. */
export const byteCount = 32

/** Generates a secret with `crypto.getRandomValues`. */
export const generate = (): string => encode(randomBytes(byteCount))

/** Encodes 32 random bytes as a secret. Throws a `RangeError` for any other number of bytes. */
export const encode = (bytes: Uint8Array): string => {
  if (bytes.length !== byteCount) throw new RangeError(`A secret must have ${byteCount} bytes.`)
  let text = prefix
  let bits = 0
  let bitCount = 0
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    for (bitCount += 8; bitCount >= 5; bitCount -= 5) text += alphabet[(bits >> (bitCount - 5)) & 31]
    bits &= 31
  }
  // One bit is left. It becomes the first of the last five.
  return text + alphabet[(bits << (5 - bitCount)) & 31]
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
