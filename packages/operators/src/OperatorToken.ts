/**
 * Tokens of operators: `kop_`, 43 base62 characters of 256 random bits, and 6 base62
 * characters of the CRC-32 over the preceding text.
 *
 * The checksum rejects typing errors without a look-up, and secret scanners can verify a
 * leaked token with it. A plain SHA-256 suffices to store 256 random bits, since they
 * cannot be guessed.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { fromBytes, fromUint32, isBase62 } from "./internal/base62.ts"
import { crc32 } from "./internal/crc32.ts"

/** Creates a token. */
export const make: Effect.Effect<Redacted.Redacted, never, SecureRandom.SecureRandom> = Effect.flatMap(
  SecureRandom.SecureRandom,
  (random) => Effect.map(random.randomBytes(randomBytesCount), fromRandom)
)

/** Creates a token from 32 random bytes. */
export const fromRandom = (bytes: Uint8Array): Redacted.Redacted => {
  const body = tokenStart + fromBytes(bytes, randomChars)
  return Redacted.make(body + checksum(body), { label: "OperatorToken" })
}

/** Returns whether `text` has the length, alphabet and checksum of a token. A well-formed token need not exist. */
export const isWellFormed = (text: string): boolean =>
  text.length === tokenChars &&
  text.startsWith(tokenStart) &&
  isBase62(text, tokenStart.length) &&
  checksum(text.slice(0, -checksumChars)) === text.slice(-checksumChars)

/** Returns the SHA-256 of a token as 64 lower-case hexadecimal characters, for storage. */
export const hash = (token: Redacted.Redacted): string => bytesToHex(sha256(utf8ToBytes(Redacted.value(token))))

/** Returns the part of a token that can be shown. */
export const prefix = (token: Redacted.Redacted): string => Redacted.value(token).slice(0, prefixChars)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const tokenStart = "kop_"
const randomBytesCount = 32
/** Number of base62 characters of 256 bits. */
const randomChars = 43
const checksumChars = 6
const tokenChars = tokenStart.length + randomChars + checksumChars
const prefixChars = 12

const checksum = (body: string): string => fromUint32(crc32(body), checksumChars)
