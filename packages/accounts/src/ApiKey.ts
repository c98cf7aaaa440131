/**
 * API keys (D3): `kin_`, 43 base62 characters of 256 random bits, and 6 base62
 * characters of the CRC-32 over what precedes.
 *
 * The checksum refuses typing errors and made-up keys before anything is hashed
 * or looked up, and lets secret scanners recognise a leaked key by itself.
 * A plain SHA-256 is enough to keep 256 random bits: there is nothing to guess.
 */
import { TypeId } from "@kinora/persistence"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { type DateTime, Effect, type Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AccountId } from "./Account.ts"
import { fromBytes, fromUint32, isBase62 } from "./internal/base62.ts"
import { crc32 } from "./internal/crc32.ts"

/** Ids of key records, `key_…` (D2). */
export const KeyId = TypeId.define("key", "KeyId")
/** See the value of the same name. */
export type KeyId = TypeId.Id<"KeyId">

/** What is kept of a key. The key itself is shown once and kept nowhere. */
export interface ApiKey {
  readonly id: KeyId
  readonly account: AccountId
  readonly name: string
  /** The first 12 characters, to recognise the key by. */
  readonly prefix: string
  readonly createdAt: DateTime.Utc
  /** Exact to a minute. */
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  readonly revokedAt: Option.Option<DateTime.Utc>
}

/** A new key. */
export const make: Effect.Effect<Redacted.Redacted, never, SecureRandom.SecureRandom> = Effect.flatMap(
  SecureRandom.SecureRandom,
  (random) => Effect.map(random.randomBytes(randomBytesCount), fromRandom)
)

/** The key of 32 bytes that nobody can guess. */
export const fromRandom = (bytes: Uint8Array): Redacted.Redacted => {
  const body = keyStart + fromBytes(bytes, randomChars)
  return Redacted.make(body + checksum(body), { label: "ApiKey" })
}

/** Whether `text` has the length, letters and checksum of a key. Says nothing of whether it was ever issued. */
export const isWellFormed = (text: string): boolean =>
  text.length === keyChars &&
  text.startsWith(keyStart) &&
  isBase62(text, keyStart.length) &&
  checksum(text.slice(0, -checksumChars)) === text.slice(-checksumChars)

/** What a database keeps of a key: its SHA-256, as 64 lower-case hexadecimal characters. */
export const hash = (key: Redacted.Redacted): string => bytesToHex(sha256(utf8ToBytes(Redacted.value(key))))

/** The part of a key that may be shown. */
export const prefix = (key: Redacted.Redacted): string => Redacted.value(key).slice(0, prefixChars)

/** Longest name of a key, in UTF-16 code units. */
export const nameCharsMax = 100

/** Whether `text` can be a key's name: not blank, no control characters. */
export const isName = (text: string): boolean =>
  text.length <= nameCharsMax && text.trim() !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyStart = "kin_"
const randomBytesCount = 32
/** The fewest base62 characters that hold 256 bits. */
const randomChars = 43
const checksumChars = 6
const keyChars = keyStart.length + randomChars + checksumChars
const prefixChars = 12

const checksum = (body: string): string => fromUint32(crc32(body), checksumChars)
