/**
 * Parses the `Range` header (RFC 9110, section 14), with one byte range per request.
 * A header that RFC 9110 allows a server to ignore is ignored.
 */
import { Data } from "effect"

/**
 * The part of the representation to send:
 *
 * - `Whole`: 200 with all bytes.
 * - `Part`: 206 with the bytes from `start` to `end`, both inclusive, even if those are
 *   all bytes.
 * - `Unsatisfiable`: 416 with the size in `Content-Range`.
 */
export type Range = Data.TaggedEnum<{
  Whole: {}
  Part: { readonly start: number; readonly end: number }
  Unsatisfiable: {}
}>

/** Constructors and matchers of `Range`. */
export const { $is, $match, Part, Unsatisfiable, Whole } = Data.taggedEnum<Range>()

/**
 * Parses the header for a representation of `size` bytes.
 *
 * Returns `Whole` if the header is absent or malformed, has another unit, or has several
 * ranges. An end past the last byte is the last byte; a suffix longer than the
 * representation is the whole representation. Every single range of an empty
 * representation is `Unsatisfiable`.
 */
export const parse = (header: string | undefined, size: number): Range => {
  const spec = header === undefined ? undefined : singleSpec(header)
  if (spec === undefined) return Whole()
  const { first, last } = spec
  if (first === "") {
    const length = Number(last)
    return length === 0 || size === 0 ? Unsatisfiable() : Part({ start: Math.max(0, size - length), end: size - 1 })
  }
  const start = Number(first)
  const end = last === "" ? size - 1 : Number(last)
  if (last !== "" && end < start) return Whole()
  return start >= size ? Unsatisfiable() : Part({ start, end: Math.min(end, size - 1) })
}

/** Returns the `Content-Range` of a 206 response. */
export const contentRange = ({ end, start }: { readonly start: number; readonly end: number }, size: number): string =>
  `bytes ${start}-${end}/${size}`

/** Returns the `Content-Range` of a 416 response. */
export const contentRangeUnsatisfied = (size: number): string => `bytes */${size}`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Returns the range if the set has exactly one. A list may have empty members (RFC 9110, 5.6.1.2). */
const singleSpec = (header: string): { readonly first: string; readonly last: string } | undefined => {
  const set = /^bytes=(.*)$/i.exec(header)?.[1]
  if (set === undefined) return undefined
  const members = set.split(",").map((member) => member.trim()).filter((member) => member !== "")
  const match = members.length === 1 ? /^(\d*)-(\d*)$/.exec(members[0] as string) : null
  if (match === null) return undefined
  const [, first = "", last = ""] = match
  return first === "" && last === "" ? undefined : { first, last }
}
