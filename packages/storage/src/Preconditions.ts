/**
 * Evaluates conditional GET and HEAD requests (RFC 9110, section 13) of a representation
 * with an entity tag and a date of last modification.
 */
import { type DateTime, Result } from "effect"
import { Headers } from "effect/http"

/** Validators of the current representation. */
export interface Validators {
  /** The entity tag as sent, with quotes: `"…"`, or `W/"…"` if it is weak. */
  readonly etag: string
  /** Sent and compared with a resolution of one second. */
  readonly lastModified: DateTime.Utc
}

/** Conditional headers of a request. */
export interface Conditions {
  readonly ifMatch?: string | undefined
  readonly ifUnmodifiedSince?: string | undefined
  readonly ifNoneMatch?: string | undefined
  readonly ifModifiedSince?: string | undefined
}

/** Result of the conditions: `Proceed`, `NotModified` (304) or `Failed` (412). */
export type Outcome = "Proceed" | "NotModified" | "Failed"

/**
 * Evaluates the conditions in the order of section 13.2.2. A date is ignored if the
 * request has the corresponding entity tag. A malformed date is ignored; a malformed
 * list of tags matches nothing.
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
 * Returns whether `Range` applies, given `If-Range` (section 13.1.5). It applies if the
 * header is absent, if its tag is equal by strong comparison, or if its date is exactly
 * the date of last modification. Otherwise the range is to be ignored. Dates are safe
 * only for representations that do not change twice in one second.
 */
export const isRangeCurrent = (ifRange: string | undefined, { etag, lastModified }: Validators): boolean => {
  if (ifRange === undefined) return true
  const text = ifRange.trim()
  return isTag(text) ? isSameStrong(text, etag) : parseDate(text) === toSeconds(lastModified)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** `entity-tag` of section 8.8.3. Node decodes bytes above 0x7f as Latin-1. */
const tag = "(?:W/)?\"[\\x21\\x23-\\x7e\\x80-\\xff]*\""
const tagOnly = new RegExp(`^${tag}$`)

const isTag = (text: string) => tagOnly.test(text)

const isWeak = (tag: string) => tag.startsWith("W/")

const opaque = (tag: string) => isWeak(tag) ? tag.slice(2) : tag

const isSameStrong = (a: string, b: string) => !isWeak(a) && a === b

const isSameWeak = (a: string, b: string) => opaque(a) === opaque(b)

const matches = (header: string, etag: string, isSame: (a: string, b: string) => boolean) =>
  header.trim() === "*" || parseTags(header).some((tag) => isSame(tag, etag))

/** Returns the tags of a list, or none if it is malformed. A tag may contain a comma, so the list is not split. */
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
