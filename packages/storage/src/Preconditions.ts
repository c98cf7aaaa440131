/**
 * Conditional requests (RFC 9110, section 13) for GET and HEAD of a representation
 * that has a strong entity tag and a date of last modification.
 */
import { type DateTime, Result } from "effect"
import { Headers } from "effect/http"

/** What identifies the current representation. */
export interface Validators {
  /** The entity tag as it is sent, with its quotes: `"…"`, or `W/"…"` when it is weak. */
  readonly etag: string
  /** Sent with a resolution of one second, and compared so. */
  readonly lastModified: DateTime.Utc
}

/** The request's headers, `undefined` where it has none. */
export interface Conditions {
  readonly ifMatch?: string | undefined
  readonly ifUnmodifiedSince?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly ifModifiedSince?: string | undefined
}

/** `Proceed` with the request, 304 `NotModified`, or 412 `Failed`. */
export type Outcome = "Proceed" | "NotModified" | "Failed"

/**
 * Evaluates the conditions of a GET or HEAD in the order of section 13.2.2: an
 * entity tag is asked before a date, and the date is ignored then. A date that is
 * none is ignored; a list of tags that is none matches nothing.
 */
export const evaluate = (conditions: Conditions, { etag, lastModified }: Validators): Outcome => {
  const { ifMatch, ifModifiedSince, ifNoneMatch, ifUnmodifiedSince } = conditions
  const modifiedAt = toSeconds(lastModified)
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, etag, isSameStrong)) return "Failed"
  } else if (ifUnmodifiedSince !== undefined) {
    const since = parseDate(ifUnmodifiedSince)
    if (since !== undefined && modifiedAt > since) return "Failed"
  }
  if (ifNoneMatch !== undefined) {
    return matches(ifNoneMatch, etag, isSameWeak) ? "NotModified" : "Proceed"
  }
  const since = ifModifiedSince === undefined ? undefined : parseDate(ifModifiedSince)
  return since !== undefined && modifiedAt <= since ? "NotModified" : "Proceed"
}

/**
 * Whether `Range` counts, given `If-Range` (section 13.1.5): without the header it
 * does; a tag must be the same by strong comparison; a date must be exactly the
 * date of last modification. Use the date only for representations that do not
 * change twice in one second. Anything else means that the range is ignored.
 */
export const isRangeCurrent = (ifRange: string | undefined, { etag, lastModified }: Validators): boolean => {
  if (ifRange === undefined) return true
  const text = ifRange.trim()
  return isTag(text) ? isSameStrong(text, etag) : parseDate(text) === toSeconds(lastModified)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** `entity-tag` of section 8.8.3. Bytes above 0x7f arrive as Latin-1. */
const tag = "(?:W/)?\"[\\x21\\x23-\\x7e\\x80-\\xff]*\""
const tagOnly = new RegExp(`^${tag}$`)

const isTag = (text: string) => tagOnly.test(text)

const isWeak = (tag: string) => tag.startsWith("W/")

const opaque = (tag: string) => isWeak(tag) ? tag.slice(2) : tag

const isSameStrong = (a: string, b: string) => !isWeak(a) && a === b

const isSameWeak = (a: string, b: string) => opaque(a) === opaque(b)

const matches = (header: string, etag: string, isSame: (a: string, b: string) => boolean) =>
  header.trim() === "*" || parseTags(header).some((tag) => isSame(tag, etag))

/** The tags of a list, none if it is malformed. Read one by one, since a tag may contain a comma. */
const parseTags = (header: string): ReadonlyArray<string> => {
  const member = new RegExp(`[ \\t,]*(${tag})[ \\t]*(?=,|$)`, "y")
  const tags: Array<string> = []
  let end = 0
  for (let match = member.exec(header); match !== null; match = member.exec(header)) {
    tags.push(match[1] as string)
    end = member.lastIndex
  }
  return /^[ \t,]*$/.test(header.slice(end)) ? tags : []
}

const toSeconds = (time: DateTime.Utc) => Math.floor(time.epochMilliseconds / 1000)

const parseDate = (text: string): number | undefined => {
  const date = Headers.parseHttpDate(text)
  return Result.isSuccess(date) ? toSeconds(date.success) : undefined
}
