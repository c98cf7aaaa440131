/** Metadata: what callers note on a transaction. */
import type { Schema } from "effect"

/** An object of JSON. */
export type Metadata = Readonly<Record<string, Schema.Json>>

/** The maximum length of the JSON of metadata, in bytes of UTF-8. */
export const bytesMax = 4_096

/** The maximum nesting of metadata. The metadata itself is the first level. */
export const depthMax = 8

/**
 * Returns metadata as a database returns it after it was stored as JSON. Throws unless it is an object of JSON within the limits.
 * Each property is read once, so an object that returns other values the next time is not stored unchecked.
 */
export const copyOf = (metadata: Metadata): Metadata => {
  const json = encode(metadata)
  if (json === undefined) {
    throw new Error(
      `Metadata must be a plain object of JSON with at most ${depthMax} levels and ${bytesMax} bytes, without NUL characters and lone surrogates`
    )
  }
  return JSON.parse(json) as Metadata // `encode` returns the JSON of an object
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the JSON, or `undefined` if it is invalid or too long. */
const encode = (metadata: unknown): string | undefined => {
  try {
    if (!isObject(metadata)) return undefined
    const json = JSON.stringify(copy(metadata, { depth: depthMax, read: { count: 0 } }))
    return bytesOf(json) > bytesMax ? undefined : json
  } catch {
    // Also what a getter or a proxy throws, since its message can contain what was noted.
    return undefined
  }
}

/** The length in UTF-8, of which every byte that is not a letter or digit is escaped as `%00` to `%FF`. */
const bytesOf = (text: string): number => encodeURIComponent(text).replaceAll(/%../gu, "x").length

interface Position {
  /** The levels that are left. */
  readonly depth: number
  /** Values that were read. Each takes at least one byte, so reading ends for objects that contain one another very often. */
  readonly read: { count: number }
}

const copy = (value: unknown, { depth, read }: Position): Schema.Json => {
  if (++read.count > bytesMax) throw invalid
  if (value === null || typeof value === "boolean") return value
  if (typeof value === "number" && Number.isFinite(value)) return value
  if (typeof value === "string" && isText(value)) return value
  if (depth === 0) throw invalid
  const inside = { depth: depth - 1, read }
  if (Array.isArray(value)) return Array.from<unknown, Schema.Json>(value, (element) => copy(element, inside))
  if (!isObject(value)) throw invalid
  return Object.fromEntries(
    Object.keys(value).map((key) => {
      if (!isText(key)) throw invalid
      return [key, copy(value[key], inside)]
    })
  )
}

const invalid = new Error("The metadata is invalid")

/** `jsonb` of Postgres has neither NUL characters nor lone surrogates. */
const isText = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
