/** The image of an upload: the body as it is, or the one part `file` of multipart/form-data (D19). */
import { BadRequest, bodyOf, PayloadTooLarge, UnsupportedMediaType } from "@kinora/http-api/ApiError"
import { imageTypes } from "@kinora/http-api/Upload"
import { Bytes, Effect, Stream } from "effect"
import { type HttpServerRequest, Multipart } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import { mediaType, multipartOverheadMax } from "./bodies.ts"

/** What was sent, and what the client says that it is. */
export interface Sent {
  readonly bytes: Uint8Array
  /** `undefined`: nothing. */
  readonly declared: string | undefined
}

/** Reads the image of a request. At most `uploadBytesMax` bytes of it are held. */
export const read = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, { uploadBytesMax }: HttpServerOptions) {
    const type = mediaType(request.headers["content-type"] ?? "")
    if (type === "multipart/form-data") return yield* readPart(request, uploadBytesMax)
    if (!imageTypes.some((known) => known === type)) return yield* unsupported
    // As everywhere, a body that cannot be read is for the edge to answer.
    return { bytes: yield* collect(Stream.orDie(request.stream), uploadBytesMax), declared: type }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const readPart = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, bytesMax: number) {
    const found: Array<Sent> = []
    const take = Effect.fnUntraced(function*(part: Multipart.Part) {
      if (!Multipart.isFile(part) || part.key !== "file" || found.length > 0) return yield* notOneFile
      found.push({ bytes: yield* collect(part.content, bytesMax), declared: declaredOf(part) })
    })
    yield* Stream.runForEach(request.multipartStream, take)
    const [file] = found
    return file ?? (yield* notOneFile)
  },
  (effect, _, bytesMax) =>
    effect.pipe(
      Effect.provideContext(Multipart.limitsServices({ maxParts: partsMax, maxFieldSize: multipartOverheadMax })),
      Effect.catchTag(
        "MultipartError",
        Effect.fnUntraced(function*({ reason }) {
          switch (reason._tag) {
            case "Parse":
            case "TooManyParts":
              return yield* notOneFile
            case "InternalError":
              return yield* Effect.die(reason.cause)
            default:
              return yield* tooLarge(bytesMax)
          }
        })
      )
    )
)

/** One, and one to see that there are more. */
const partsMax = 2

/** The bytes in one piece. Stops reading at the first that is too many. */
const collect = Effect.fnUntraced(function*<E>(stream: Stream.Stream<Uint8Array, E>, bytesMax: number) {
  const chunks: Array<Uint8Array> = []
  let length = 0
  yield* Stream.runForEach(stream, (chunk) => {
    chunks.push(chunk)
    length += chunk.length
    return length > bytesMax ? Effect.fail(tooLarge(bytesMax)) : Effect.void
  })
  return Bytes.concat(chunks)
})

/** What a part says that it is. This type says nothing, and is that of a file whose part names none. */
const declaredOf = ({ contentType }: Multipart.File): string | undefined => {
  const type = mediaType(contentType)
  return type === "application/octet-stream" ? undefined : type
}

const tooLarge = (bytesMax: number) =>
  new PayloadTooLarge({
    error: bodyOf("payload_too_large", { message: `An image may have at most ${bytesMax} bytes.` })
  })

const unsupported = new UnsupportedMediaType({
  error: bodyOf("unsupported_media_type", {
    message: `Send the image as the body, with its Content-Type (${imageTypes.join(", ")}), or as the part file of ` +
      "multipart/form-data."
  })
})

const notOneFile = new BadRequest({
  error: bodyOf("invalid_request", {
    message: "multipart/form-data must hold one part, a file named file.",
    details: { issues: [{ path: "file", message: "must be the only part, with a file name" }] }
  })
})
