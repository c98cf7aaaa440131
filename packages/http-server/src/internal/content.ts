/** Results over HTTP: ranges, validators and streams in constant memory (D31 to D35). */
import type { File, Generation, StoredFile } from "@kinora/generations/Generation"
import { Generations } from "@kinora/generations/Generations"
import { ContentReader } from "@kinora/http-api/Access"
import { Api } from "@kinora/http-api/Api"
import { bodyOf, RangeNotSatisfiable } from "@kinora/http-api/ApiError"
import { BlobStore, Preconditions, Range } from "@kinora/storage"
import { DateTime, Effect, Stream } from "effect"
import { type Headers, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import * as Blobs from "./blobs.ts"
import * as Downloads from "./downloads.ts"
import * as Metrics from "./metrics.ts"
import * as Refusals from "./refusals.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  HttpApiBuilder.group(
    Api,
    "content",
    Effect.fnUntraced(function*(handlers) {
      const blobs = yield* BlobStore.BlobStore
      const { admit } = yield* Downloads.make(options)
      const generations = yield* Generations

      const open = Effect.fnUntraced(function*(key: string, range: BlobStore.ByteRange, meter: Downloads.Meter) {
        return Stream.tap(
          yield* Blobs.open(blobs, key, range),
          ({ length }) => Effect.andThen(Metrics.countBytes(length), meter.count(length))
        )
      })

      const serve = (file: File) =>
        Effect.fnUntraced(
          function*({ params, query, request }: FileRequest) {
            const { account } = yield* ContentReader
            const found = yield* generations.file(params.id, file, account)
            const headers = headersOf(found.generation, file, found.file, query.download === "1", yield* DateTime.now)
            const answer = answerOf(request, found.generation, found.file)
            if (answer === "NotModified") return HttpServerResponse.empty({ status: 304, headers: headers.revalidated })
            if (answer === "Unsatisfiable") {
              return yield* new RangeNotSatisfiable({
                error: bodyOf("range_not_satisfiable", { details: { bytes: found.file.bytes } }),
                size: found.file.bytes
              })
            }
            const { range, status } = answer
            const length = range.end - range.start + 1
            const admitted = admit(found.generation, file, found.file, length)
            // HEAD is checked like GET and holds nothing (D34).
            const meter = yield* request.method === "HEAD" ? Effect.scoped(admitted) : admitted
            const bytes = yield* open(found.file.key, range, meter)
            return HttpServerResponse.stream(request.method === "HEAD" ? Stream.empty : bytes, {
              status,
              contentType: found.file.mime,
              contentLength: length,
              headers: status === 206
                ? { ...headers.all, "content-range": Range.contentRange(range, found.file.bytes) }
                : headers.all
            })
          },
          Effect.catchReasons("GenerationError", refusals, Refusals.unexpected),
          Effect.catchTag("StorageError", Refusals.unavailable)
        )

      return handlers
        .handleRaw("content", serve("content"))
        .handleRaw("preview", serve("preview"))
        .handleRaw("thumb", serve("thumb"))
        .handleRaw("poster", serve("poster"))
    })
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What the four endpoints have in common. */
interface FileRequest {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly params: { readonly id: string }
  readonly query: { readonly download?: string }
}

/** Every way in which a file is refused (D31). */
const refusals = {
  NotFound: Refusals.NotFound,
  ResultNotReady: Refusals.ResultNotReady,
  ResultNotFound: Refusals.ResultNotFound,
  ResultExpired: Refusals.ResultExpired
}

type Answer =
  | "NotModified"
  | "Unsatisfiable"
  | { readonly status: 200 | 206; readonly range: BlobStore.ByteRange }

/** What of the file the request gets (D33). `Range` means something for GET only (RFC 9110, 14.2). */
const answerOf = (
  { headers, method }: HttpServerRequest.HttpServerRequest,
  generation: Generation,
  { bytes, sha256 }: StoredFile
): Answer => {
  const validators = { etag: etagOf(sha256), lastModified: modifiedAt(generation) }
  const outcome = Preconditions.evaluate(
    { ifNoneMatch: headers["if-none-match"], ifModifiedSince: headers["if-modified-since"] },
    validators
  )
  if (outcome === "NotModified") return "NotModified"
  const header = method === "GET" && Preconditions.isRangeCurrent(headers["if-range"], validators)
    ? headers["range"]
    : undefined
  return Range.$match(Range.parse(header, bytes), {
    Whole: (): Answer => ({ status: 200, range: { start: 0, end: bytes - 1 } }),
    Part: ({ end, start }): Answer => ({ status: 206, range: { start, end } }),
    Unsatisfiable: (): Answer => "Unsatisfiable"
  })
}

/** The bytes under a key never change, so their hash is a strong validator. */
const etagOf = (sha256: string) => `"${sha256}"`

const modifiedAt = ({ createdAt, finishedAt }: Generation) => finishedAt ?? createdAt

const headersOf = (
  generation: Generation,
  file: File,
  stored: StoredFile,
  isDownload: boolean,
  now: DateTime.Utc
) => {
  const revalidated: Headers.Input = {
    "etag": etagOf(stored.sha256),
    "last-modified": httpDate(modifiedAt(generation)),
    "cache-control": `private, max-age=${secondsLeft(generation, now)}`,
    "access-control-allow-origin": "*",
    // A page of another origin cannot resume a download without seeing these.
    "access-control-expose-headers": "Accept-Ranges, Content-Length, Content-Range, ETag, X-Request-Id",
    "cross-origin-resource-policy": "cross-origin"
  }
  return {
    revalidated,
    all: {
      ...revalidated,
      "accept-ranges": "bytes",
      "content-disposition": `${isDownload ? "attachment" : "inline"}; filename="${nameOf(generation, file, stored)}"`,
      "x-content-type-options": "nosniff"
    }
  }
}

const secondsLeft = ({ resultExpiresAt }: Generation, now: DateTime.Utc): number =>
  resultExpiresAt === null
    ? 0
    : Math.max(0, Math.floor((resultExpiresAt.epochMilliseconds - now.epochMilliseconds) / 1000))

/** `gen_….png`, `gen_…-thumb.webp`: letters, digits, `_`, `-` and dots only. */
const nameOf = ({ id }: Generation, file: File, { mime }: StoredFile): string =>
  `${id}${file === "content" ? "" : `-${file}`}.${extensions[mime] ?? "bin"}`

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "video/mp4": "mp4",
  "video/webm": "webm"
}

/** IMF-fixdate (RFC 9110, 5.6.7). */
const httpDate = (time: DateTime.Utc): string => DateTime.toDateUtc(time).toUTCString()
