/**
 * The `Range` header (RFC 9110, section 14): one byte range per request, as D33
 * says. What a server may ignore is ignored, so a client always gets an answer
 * that it can use.
 */
import { Data } from "effect"

/**
 * What a request asks for.
 *
 * - `Whole`: 200 with all bytes.
 * - `Part`: 206 with the bytes from `start` to `end`, both inclusive; also when that is everything.
 * - `Unsatisfiable`: 416, with the size in `Content-Range`.
 */
export type Range = Data.TaggedEnum<{
  Whole: {}
  Part: { readonly start: number; readonly end: number }
  Unsatisfiable: {}
}>

/** Constructors and matchers of `Range`. */
export const { $is, $match, Part, Unsatisfiable, Whole } = Data.taggedEnum<Range>()

/**
 * Reads the header for a representation of `size` bytes.
 *
 * No header, a malformed one, another unit and several ranges are `Whole`. An end
 * past the last byte means the last byte, and a suffix longer than the
 * representation means all of it. An empty representation has no range to give, so
 * any single range of it is `Unsatisfiable`.
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

/** `Content-Range` of a 206. */
export const contentRange = ({ end, start }: { readonly start: number; readonly end: number }, size: number): string =>
  `bytes ${start}-${end}/${size}`

/** `Content-Range` of a 416. */
export const contentRangeUnsatisfied = (size: number): string => `bytes */${size}`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The only range of the set, or `undefined`. A list may have empty members (RFC 9110, 5.6.1.2). */
const singleSpec = (header: string): { readonly first: string; readonly last: string } | undefined => {
  const set = /^bytes=(.*)$/i.exec(header)?.[1]
  if (set === undefined) return undefined
  const members = set.split(",").map((member) => member.trim()).filter((member) => member !== "")
  const match = members.length === 1 ? /^(\d*)-(\d*)$/.exec(members[0] as string) : null
  if (match === null) return undefined
  const [, first = "", last = ""] = match
  return first === "" && last === "" ? undefined : { first, last }
}
