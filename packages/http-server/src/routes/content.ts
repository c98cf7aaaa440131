/** The files of jobs: ranges, validators, and streams in constant memory. See docs/reference/http-api.md#results. */
import type { File } from "@kinora/generations/Generation"
import { Generations } from "@kinora/generations/Generations"
import { ContentReader } from "@kinora/http-api/Access"
import { Api } from "@kinora/http-api/Api"
import { refuse } from "@kinora/http-api/ApiError"
import { BlobStore, Range } from "@kinora/storage"
import { DateTime, Effect, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { checkBlob } from "../middleware/blobs.ts"
import * as DownloadLimits from "../middleware/downloadLimits.ts"
import { answers } from "../middleware/refusals.ts"
import * as SentFiles from "../middleware/sentFiles.ts"
import { Suspensions } from "../middleware/suspensions.ts"
import * as FileResponse from "../wire/fileResponse.ts"
import * as EndpointGroup from "./endpointGroup.ts"

/** The handlers. */
export const layer = (options: HttpServerOptions) =>
  EndpointGroup.make(Api, "content", function*(handlers) {
    const makeHandler = yield* makeServe(options)
    const serve = (file: File) => {
      const handler = makeHandler(file)
      return (request: Omit<FileRequest, "reader">) =>
        Effect.flatMap(ContentReader, (reader) => handler({ ...request, reader }))
    }
    return handlers
      .handleRaw("content", serve("content"))
      .handleRaw("preview", serve("preview"))
      .handleRaw("thumb", serve("thumb"))
      .handleRaw("poster", serve("poster"))
  })

/** The part of a request that all files share. */
export interface FileRequest {
  readonly reader: ContentReader["Service"]
  readonly request: HttpServerRequest.HttpServerRequest
  readonly params: { readonly id: string }
  readonly query: { readonly download?: string }
}

/** Makes the function that makes the handler of a file. */
export const makeServe = Effect.fnUntraced(function*(options: HttpServerOptions) {
  const blobs = yield* BlobStore.BlobStore
  const { admit } = yield* DownloadLimits.make(options)
  const generations = yield* Generations
  const send = yield* SentFiles.make(blobs, options)
  const { isSuspended } = yield* Suspensions

  return (file: File) =>
    answers(
      ["ResultNotReady", "ResultNotFound", "ResultExpired"],
      function*({ params, query, reader: { account, expiredAt }, request }: FileRequest) {
        const isSigned = account === undefined
        const { file: stored, generation } = yield* generations.file(params.id, file, account).pipe(
          Effect.catchReason(
            "GenerationError",
            "NotFound",
            Effect.fnUntraced(function*() {
              // The id was signed, so the job existed. It is deleted after its result.
              if (expiredAt !== undefined) {
                return yield* refuse("result_expired", { details: { expired_at: expiredAt } })
              }
              return yield* refuse("not_found")
            })
          )
        )
        if (expiredAt !== undefined) return yield* refuse("signature_expired")
        if (isSigned && (yield* isSuspended(generation.account))) return yield* refuse("account_suspended")
        const isDownload = query.download === "1"
        const headers = FileResponse.headersOf(generation, file, stored, isDownload, yield* DateTime.now)
        const selected = FileResponse.select(request, generation, stored)
        if (selected === "NotModified") {
          return HttpServerResponse.empty({ status: 304, headers: headers.validity })
        }
        if (selected === "Failed") return yield* refuse("precondition_failed")
        if (selected === "Unsatisfiable") {
          return yield* refuse("range_not_satisfiable", { details: { bytes: stored.bytes } })
        }
        const { range, status } = selected
        const length = range.end - range.start + 1
        const admitted = admit(generation, file, stored, length, isSigned)
        const head = {
          status,
          contentType: stored.mime,
          contentLength: length,
          headers: status === 206
            ? { ...headers.all, "content-range": Range.contentRange(range, stored.bytes) }
            : headers.all
        }
        // HEAD has the checks of GET, but sends nothing and so holds nothing.
        if (request.method === "HEAD") {
          yield* Effect.andThen(Effect.scoped(admitted), checkBlob(blobs, stored.key))
          return HttpServerResponse.stream(Stream.empty, head)
        }
        const { count } = yield* admitted
        return yield* send(request, { account: generation.account, key: stored.key, range, count, head })
      }
    )
})
