/** The records of API keys. Of a key itself, only the hash is stored. */
import * as TypeId from "@kinora/persistence/TypeId"
import type { DateTime, Option, Redacted, Schema } from "effect"
import type { KeyTerms } from "./KeyTerms.ts"

/** Codec and constructors of key ids, `key_…`. */
export const KeyId = TypeId.define("key", "KeyId")
/** Type of `KeyId`. */
export type KeyId = TypeId.Id<"KeyId">

/** Data of the team about a key, such as the environment that it belongs to. The package does not read it. */
export type Metadata = Readonly<Record<string, Schema.Json>>

/** The record of a key. The key itself is returned once and not stored. */
export interface ApiKey {
  readonly id: KeyId
  /** The account that the key belongs to, in the team's terms. */
  readonly owner: string
  readonly name: string
  /** The first characters of the key, for recognition: those that all keys have, and 8 of its own. */
  readonly prefix: string
  readonly terms: KeyTerms
  readonly metadata: Metadata
  /** Id of the first key of the line: the key itself, or the one that was rolled first. */
  readonly line: KeyId
  readonly createdAt: DateTime.Utc
  /** The author, in the team's terms. `null`: not recorded. */
  readonly createdBy: string | null
  /** Accurate to a minute. */
  readonly lastUsedAt: Option.Option<DateTime.Utc>
  readonly revokedAt: Option.Option<DateTime.Utc>
}

/** A new key. The key itself cannot be read again. */
export interface NewKey {
  readonly record: ApiKey
  readonly key: Redacted.Redacted
}

/** Maximum length of the name of a key, in UTF-16 code units. */
export const nameCharsMax = 100

/** Maximum length of an owner, in UTF-16 code units. */
export const ownerCharsMax = 255

/** Maximum length of an author, in UTF-16 code units. */
export const authorCharsMax = 1_024

/** Maximum nesting of metadata. The metadata itself is the first level. */
export const metadataDepthMax = 8

/** Returns whether `text` is a valid name: not blank, not too long, without control characters. */
export const isName = (text: string): boolean =>
  text.length <= nameCharsMax && text.trim() !== "" && !/\p{Cc}/u.test(text) && text.isWellFormed()

/** Returns whether `text` can name an owner: any text of 1 to `ownerCharsMax` characters without NUL. */
export const isOwner = (text: string): boolean => isText(text, ownerCharsMax)

/** Returns whether `text` can name an author: any text of 1 to `authorCharsMax` characters without NUL. */
export const isAuthor = (text: string): boolean => isText(text, authorCharsMax)

/** Returns what is wrong with metadata whose JSON has at most `charsMax` characters, or `undefined`. */
export const metadataProblemOf = (metadata: unknown, charsMax: number): string | undefined => {
  if (!isObject(metadata) || !isJson(metadata, metadataDepthMax)) {
    return `The metadata must be an object of JSON with at most ${metadataDepthMax} levels, without NUL characters.`
  }
  return JSON.stringify(metadata).length > charsMax
    ? `The JSON of the metadata must have at most ${charsMax} characters.`
    : undefined
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const isText = (text: string, charsMax: number): boolean => text !== "" && text.length <= charsMax && isStorable(text)

/** Returns whether Postgres can store a text. */
const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** Returns whether a value is JSON with at most `levels` levels. The limit ends cycles. */
const isJson = (value: unknown, levels: number): boolean => {
  if (value === null || typeof value === "boolean") return true
  if (typeof value === "string") return isStorable(value)
  if (typeof value === "number") return Number.isFinite(value)
  if (levels === 0) return false
  if (Array.isArray(value)) return value.every((element) => isJson(element, levels - 1))
  return isObject(value) &&
    Object.entries(value).every(([name, value]) => isStorable(name) && isJson(value, levels - 1))
}
