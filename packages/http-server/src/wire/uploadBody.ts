/** The image of an upload: the body itself, or the part `file` of multipart/form-data. */
import { make, refuse } from "@kinora/http-api/ApiError"
import { imageTypes } from "@kinora/http-api/Upload"
import { Bytes, Effect, Stream } from "effect"
import { type HttpServerRequest, Multipart } from "effect/http"
import type { HttpServerOptions } from "../HttpServerOptions.ts"
import type { BodyIntake } from "../middleware/bodyIntake.ts"
import { mediaType } from "./mediaType.ts"

/** An image as it was sent. */
export interface Sent {
  readonly bytes: Uint8Array
  /** The media type that the client declares, if any. */
  readonly declared: string | undefined
}

/** The maximum size of a form around its file. */
export const multipartOverheadMax = 16 * 1024

/** Reads the image of a request, at most `uploadBytesMax` bytes of it. They count as they arrive. */
export const read = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, { uploadBytesMax }: HttpServerOptions, intake: BodyIntake) {
    const type = mediaType(request.headers["content-type"] ?? "")
    if (type === "multipart/form-data") return yield* readPart(request, uploadBytesMax, intake)
    if (!imageTypes.some((known) => known === type)) return yield* unsupported
    // The edge responds to bodies that cannot be read, as on every endpoint.
    return { bytes: yield* collect(Stream.orDie(request.stream), uploadBytesMax, intake), declared: type }
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const readPart = Effect.fnUntraced(
  function*(request: HttpServerRequest.HttpServerRequest, bytesMax: number, intake: BodyIntake) {
    const found: Array<Sent> = []
    const take = Effect.fnUntraced(function*(part: Multipart.Part) {
      if (!Multipart.isFile(part) || part.key !== "file" || found.length > 0) return yield* notOneFile
      found.push({ bytes: yield* collect(part.content, bytesMax, intake), declared: declaredOf(part) })
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

/** The second part shows that there is more than one. */
const partsMax = 2

/** Concatenates the bytes. Stops reading when there are too many. */
const collect = Effect.fnUntraced(function*<E>(
  stream: Stream.Stream<Uint8Array, E>,
  bytesMax: number,
  intake: BodyIntake
) {
  const chunks: Array<Uint8Array> = []
  let length = 0
  const take = Effect.fnUntraced(function*(chunk: Uint8Array) {
    chunks.push(chunk)
    length += chunk.length
    if (length > bytesMax) return yield* Effect.fail(tooLarge(bytesMax))
    if (!(yield* intake.take(chunk.length))) return yield* crowded
  })
  yield* Stream.runForEach(stream, take)
  return Bytes.concat(chunks)
})

/** The media type that a part declares. Parts without a type have this one. */
const declaredOf = ({ contentType }: Multipart.File): string | undefined => {
  const type = mediaType(contentType)
  return type === "application/octet-stream" ? undefined : type
}

const tooLarge = (bytesMax: number) =>
  make("payload_too_large", { message: `The image must have at most ${bytesMax} bytes.` })

const crowded = refuse("unavailable", {
  message: "The service is reading too many large request bodies; retry shortly."
})

const unsupported = refuse("unsupported_media_type", {
  message: `Send the image as the body with its Content-Type (${imageTypes.join(", ")}), or as the part file of ` +
    "multipart/form-data."
})

const notOneFile = refuse("invalid_request", {
  message: "multipart/form-data must have exactly one part: a file named file.",
  details: { issues: [{ path: "file", message: "must be the only part and have a file name" }] }
})
