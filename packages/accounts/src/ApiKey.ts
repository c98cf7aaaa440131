/**
 * API keys: `kin_`, 43 base62 characters of 256 random bits, and 6 base62 characters of
 * the CRC-32 over the preceding text.
 *
 * The checksum rejects typing errors and invented keys without hashing or look-up, and
 * secret scanners can verify a leaked key with it. A plain SHA-256 suffices to store 256
 * random bits, since they cannot be guessed.
 */
import { TypeId } from "@kinora/persistence"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { type DateTime, Effect, type Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AccountId } from "./Account.ts"
import { fromBytes, fromUint32, isBase62 } from "./internal/base62.ts"
import { crc32 } from "./internal/crc32.ts"
import type { KeyBudget } from "./KeyBudget.ts"
import type { KeyTerms } from "./KeyTerms.ts"

/** Codec and constructors of key ids, `key_…`. */
export const KeyId = TypeId.define("key", "KeyId")
/** Type of `KeyId`. */
export type KeyId = TypeId.Id<"KeyId">

/** The record of a key. The key itself is returned once and not stored. */
export interface ApiKey {
  readonly id: KeyId
  readonly account: AccountId
  readonly name: string
  /** The first 12 characters of the key, for recognition. */
  readonly prefix: string
  readonly terms: KeyTerms
  /** Id of the first key of the line: the key itself, or the one that was rolled first. */
  readonly line: KeyId
  /** The budget of the line. */
  readonly budget: KeyBudget
  readonly createdAt: DateTime.Utc
  /** The id of the author, in the host's terms. `null`: not recorded. */
  readonly createdBy: string | null
  /** Accurate to a minute. */
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  readonly revokedAt: Option.Option<DateTime.Utc>
}

/** A key whose budget was changed, and its former budget. */
export interface ChangedKey {
  readonly changed: ApiKey
  readonly former: KeyBudget
}

/** Creates a key. */
export const make: Effect.Effect<Redacted.Redacted, never, SecureRandom.SecureRandom> = Effect.flatMap(
  SecureRandom.SecureRandom,
  (random) => Effect.map(random.randomBytes(randomBytesCount), fromRandom)
)

/** Creates a key from 32 random bytes. */
export const fromRandom = (bytes: Uint8Array): Redacted.Redacted => {
  const body = keyStart + fromBytes(bytes, randomChars)
  return Redacted.make(body + checksum(body), { label: "ApiKey" })
}

/** Returns whether `text` has the length, alphabet and checksum of a key. A well-formed key need not exist. */
export const isWellFormed = (text: string): boolean =>
  text.length === keyChars &&
  text.startsWith(keyStart) &&
  isBase62(text, keyStart.length) &&
  checksum(text.slice(0, -checksumChars)) === text.slice(-checksumChars)

/** Returns the SHA-256 of a key as 64 lower-case hexadecimal characters, for storage. */
export const hash = (key: Redacted.Redacted): string => bytesToHex(sha256(utf8ToBytes(Redacted.value(key))))

/** Returns the part of a key that can be shown. */
export const prefix = (key: Redacted.Redacted): string => Redacted.value(key).slice(0, prefixChars)

/** Maximum length of the name of a key, in UTF-16 code units. */
export const nameCharsMax = 100

/** Returns whether `text` is a valid name: not blank, not too long, without control characters. */
export const isName = (text: string): boolean =>
  text.length <= nameCharsMax && text.trim() !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed()

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const keyStart = "kin_"
const randomBytesCount = 32
/** Number of base62 characters of 256 bits. */
const randomChars = 43
const checksumChars = 6
const keyChars = keyStart.length + randomChars + checksumChars
const prefixChars = 12

const checksum = (body: string): string => fromUint32(crc32(body), checksumChars)
