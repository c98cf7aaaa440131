import { BlobStore, Range, UrlSigner } from "@kinora/storage"
import { DateTime, Effect, Layer, Redacted, type Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/** Stores a result as it arrives, and returns a link to it that is valid for an hour. */
export const keep = Effect.fn("keep")(function*(id: string, video: Stream.Stream<Uint8Array>) {
  const { put } = yield* BlobStore.BlobStore
  const { sign } = yield* UrlSigner.UrlSigner
  const blob = yield* put(`results/${id}.mp4`, video, { bytesMax: 512 * 1024 ** 2, contentType: "video/mp4" })
  const { exp, sig } = sign(`/results/${id}`, DateTime.add(yield* DateTime.now, { hours: 1 }))
  return { blob, url: `/results/${id}?exp=${exp}&sig=${sig}` }
})

/** Responds to a request for the link with the whole blob or with the requested range. */
export const answer = Effect.fn("answer")(function*(blob: BlobStore.Blob, url: URL, rangeHeader: string | undefined) {
  const { get } = yield* BlobStore.BlobStore
  const { verify } = yield* UrlSigner.UrlSigner
  const pair = { exp: url.searchParams.get("exp") ?? "", sig: url.searchParams.get("sig") ?? "" }
  const verdict = verify(url.pathname, pair, yield* DateTime.now)
  if (verdict !== "Valid") return HttpServerResponse.empty({ status: verdict === "Wrong" ? 401 : 403 })

  const { bytes, contentType, key } = blob
  return Range.$match(Range.parse(rangeHeader, bytes), {
    Whole: () => HttpServerResponse.stream(get(key), { contentType, contentLength: bytes }),
    Part: (part) =>
      HttpServerResponse.stream(get(key, part), {
        status: 206,
        contentType,
        contentLength: part.end - part.start + 1,
        headers: { "content-range": Range.contentRange(part, bytes) }
      }),
    Unsatisfiable: () =>
      HttpServerResponse.empty({ status: 416, headers: { "content-range": Range.contentRangeUnsatisfied(bytes) } })
  })
})

/** Use `FileBlobStore.layer({ directory })` instead of `layerMemory` to keep the blobs. */
export const layer = Layer.merge(
  BlobStore.layerMemory,
  UrlSigner.layer({ keys: [Redacted.make("a secret of at least thirty-two bytes")] })
)
