/** The part of a file that a request selects, and the headers of its response. */
import type { File, Generation, StoredFile } from "@kinora/generations/Generation"
import { fileExtensionOf } from "@kinora/http-api/Generation"
import { type BlobStore, Preconditions, Range } from "@kinora/storage"
import { DateTime } from "effect"
import type { Headers, HttpServerRequest } from "effect/http"

/** The part of a file to send, or why nothing is sent. */
export type Selected =
  | "NotModified"
  | "Failed"
  | "Unsatisfiable"
  | { readonly status: 200 | 206; readonly range: BlobStore.ByteRange }

/** Evaluates the preconditions and the range of a request. `Range` applies to GET only (RFC 9110, 14.2). */
export const select = (
  { headers, method }: HttpServerRequest.HttpServerRequest,
  generation: Generation,
  { bytes, sha256 }: StoredFile
): Selected => {
  const validators = { etag: etagOf(sha256), lastModified: modifiedAt(generation) }
  const outcome = Preconditions.evaluate(
    {
      ifMatch: headers["if-match"],
      ifUnmodifiedSince: headers["if-unmodified-since"],
      ifNoneMatch: headers["if-none-match"],
      ifModifiedSince: headers["if-modified-since"]
    },
    validators
  )
  if (outcome !== "Proceed") return outcome
  const header = method === "GET" && Preconditions.isRangeCurrent(headers["if-range"], validators)
    ? headers["range"]
    : undefined
  return Range.$match(Range.parse(header, bytes), {
    Whole: (): Selected => ({ status: 200, range: { start: 0, end: bytes - 1 } }),
    Part: ({ end, start }): Selected => ({ status: 206, range: { start, end } }),
    Unsatisfiable: (): Selected => "Unsatisfiable"
  })
}

/** The headers of 304 (`validity`), and those of 200 and 206 (`all`). */
export const headersOf = (
  generation: Generation,
  file: File,
  stored: StoredFile,
  isDownload: boolean,
  now: DateTime.Utc
) => {
  const validity: Headers.Input = {
    "etag": etagOf(stored.sha256),
    "last-modified": httpDate(modifiedAt(generation)),
    "cache-control": `private, max-age=${secondsLeft(generation, now)}`,
    "cross-origin-resource-policy": "cross-origin"
  }
  return {
    validity,
    all: {
      ...validity,
      "accept-ranges": "bytes",
      "content-disposition": `${isDownload ? "attachment" : "inline"}; filename="${nameOf(generation, file, stored)}"`,
      "x-content-type-options": "nosniff"
    }
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A strong validator, because the bytes of a stored file never change. */
const etagOf = (sha256: string) => `"${sha256}"`

const modifiedAt = ({ createdAt, finishedAt }: Generation) => finishedAt ?? createdAt

const secondsLeft = ({ resultExpiresAt }: Generation, now: DateTime.Utc): number =>
  resultExpiresAt === null
    ? 0
    : Math.max(0, Math.floor((resultExpiresAt.epochMilliseconds - now.epochMilliseconds) / 1000))

/** `gen_….png` or `gen_…-thumb.webp`: letters, digits, `_`, `-` and dots only. */
const nameOf = ({ id }: Generation, file: File, { mime }: StoredFile): string =>
  `${id}${file === "content" ? "" : `-${file}`}.${fileExtensionOf(mime)}`

/** IMF-fixdate (RFC 9110, 5.6.7). */
const httpDate = (time: DateTime.Utc): string => DateTime.toDateUtc(time).toUTCString()
