/**
 * Secrets that a service issues and stores as a hash: a prefix that names the kind, 43 base62
 * characters of 256 random bits, and 6 base62 characters of the CRC-32 over the preceding text.
 *
 * The checksum rejects typing errors and invented secrets without hashing or look-up, and
 * secret scanners can verify a leaked secret with it. A plain SHA-256 suffices to store 256
 * random bits, since they cannot be guessed.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { fromBytes, fromUint32, isBase62 } from "./internal/base62.ts"
import { crc32 } from "./internal/crc32.ts"

/** The functions for one kind of secret. */
export interface SecretToken {
  /** Creates a secret. */
  readonly make: Effect.Effect<Redacted.Redacted, never, SecureRandom.SecureRandom>
  /** Creates a secret from 32 random bytes. */
  readonly fromRandom: (bytes: Uint8Array) => Redacted.Redacted
  /** Returns whether `text` has the length, alphabet and checksum of a secret. A well-formed secret need not exist. */
  readonly isWellFormed: (text: string) => boolean
  /** See `hash` of this module. */
  readonly hash: (secret: Redacted.Redacted) => string
  /** Returns the first 12 characters of a secret, by which people can recognize it. */
  readonly prefix: (secret: Redacted.Redacted) => string
}

/** Defines a kind of secret. Its text begins with `start`, such as `kin_`; `label` replaces it when it is printed. */
export const define = (start: string, label: string): SecretToken => {
  const chars = start.length + randomChars + checksumChars
  const fromRandom = (bytes: Uint8Array) => {
    const body = start + fromBytes(bytes, randomChars)
    return Redacted.make(body + checksum(body), { label })
  }
  return {
    make: Effect.flatMap(SecureRandom.SecureRandom, (random) => Effect.map(random.randomBytes(32), fromRandom)),
    fromRandom,
    isWellFormed: (text) =>
      text.length === chars &&
      text.startsWith(start) &&
      isBase62(text, start.length) &&
      checksum(text.slice(0, -checksumChars)) === text.slice(-checksumChars),
    hash,
    prefix: (secret) => Redacted.value(secret).slice(0, prefixChars)
  }
}

/** Returns the SHA-256 of a secret as 64 lower-case hexadecimal characters, for storage. */
export const hash = (secret: Redacted.Redacted): string => bytesToHex(sha256(utf8ToBytes(Redacted.value(secret))))

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Number of base62 characters of 256 bits. */
const randomChars = 43
const checksumChars = 6
const prefixChars = 12

const checksum = (body: string): string => fromUint32(crc32(body), checksumChars)
