/**
 * Secrets that sign webhooks: `whsec_` and 52 characters for 256 random bits. The whole
 * text is the key of the signature: nobody takes the prefix off or decodes the rest.
 *
 * The characters are Crockford's Base32 in lower case, as in a TypeID: digits and letters
 * without `i`, `l`, `o` and `u`, so that none is taken for another when somebody reads or
 * types it, and a double click selects all.
 */
import { randomBytes } from "./internal/Ambient.ts"

/** What every secret begins with, so that people and scanners for leaked secrets know it. */
export const prefix = "whsec_"

/** How many random bytes a secret has. */
export const byteCount = 32

/** A new secret, from the platform's generator for cryptography. */
export const generate = (): string => encode(randomBytes(byteCount))

/** The secret of these 32 bytes, for those who have a generator of their own. Another number throws a `RangeError`. */
export const encode = (bytes: Uint8Array): string => {
  if (bytes.length !== byteCount) throw new RangeError(`A secret is made of ${byteCount} bytes.`)
  let text = prefix
  let bits = 0
  let bitCount = 0
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    for (bitCount += 8; bitCount >= 5; bitCount -= 5) text += alphabet[(bits >> (bitCount - 5)) & 31]
    bits &= 31
  }
  // One bit is left; it is the first of the last five.
  return text + alphabet[(bits << (5 - bitCount)) & 31]
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
