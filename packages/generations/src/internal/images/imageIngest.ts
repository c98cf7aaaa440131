/**
 * Ingest of client images into the blob store. The row is inserted before the bytes
 * and deleted after them, outside any unit of work, so the sweep finds whatever a
 * crash leaves behind.
 */
import { Media } from "@kinora/media/Media"
import type { MediaError } from "@kinora/media/MediaError"
import { StorageError } from "@kinora/persistence/StorageError"
import type { BlobError } from "@kinora/storage/BlobError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Data, type Duration, Effect, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { UploadId } from "../../Generation.ts"
import { ImageStore, type KeptImage } from "../../ImageStore.ts"

/** The bytes are not an accepted image. The message is shown to the client. */
class UnreadableImage
  extends Schema.TaggedError<UnreadableImage>("@kinora/generations/UnreadableImage")("UnreadableImage", {
    message: Schema.String
  })
{}

/** The image was not decoded in time. */
class UndecodedImage extends Data.TaggedError("UndecodedImage")<{}> {}

/** An image to ingest. */
export interface IngestRequest<E> extends Pick<KeptImage, "account" | "usableUntil" | "keptUntil"> {
  readonly bytes: Uint8Array
  /** Media type that the client declared. If set, it must match the content. */
  readonly declared: string | undefined
  /** Inserts the row, or refuses the image. */
  readonly insert: (image: KeptImage) => Effect.Effect<void, E>
}

/** Options for `makeImageIngest`. */
export interface ImageIngestOptions {
  /** Maximum length of an image, in bytes. */
  readonly imageBytesMax: number
}

/**
 * Maximum time for which the bytes of a request that creates no job may stay, if the
 * process crashes before it deletes them. Much longer than any request takes.
 */
export const requestLimit: Duration.Input = "1 hour"

/** Returns the blob store key of an image. */
export const imageKey = (id: UploadId): string => `images/${UploadId.toUuid(id)}`

/** Returns the message for an image of more than `bytesMax` bytes. */
export const tooLongMessage = (bytesMax: number): string =>
  `The image exceeds ${bytesMax} bytes. Send a smaller or more strongly compressed image.`

/** How many times as long as the image the stored copy can be, if it is longer than `imageBytesMax`. */
const growthMax = 4

const tooLongCopyMessage = (bytesMax: number): string =>
  `The image exceeds ${bytesMax} bytes when it is stored without its metadata. Send a smaller image, or a JPEG.`

/** Makes the functions that store and delete images. */
export const makeImageIngest = Effect.fnUntraced(function*({ imageBytesMax }: ImageIngestOptions) {
  const blobs = yield* BlobStore
  const images = yield* ImageStore
  const media = yield* Media
  const random = yield* SecureRandom.SecureRandom

  /** Returns the number of pixels of an image. Rejects what `ingest` rejects before it decodes. */
  const pixelsOf = Effect.fnUntraced(function*(bytes: Uint8Array, declared: string | undefined) {
    if (bytes.length > imageBytesMax) {
      return yield* new UnreadableImage({ message: tooLongMessage(imageBytesMax) })
    }
    const { height, width } = yield* Effect.mapError(media.inspect(bytes, { declared }), asUnreadable)
    return width * height
  })

  /** Re-encodes an image that `pixelsOf` accepted and stores the copy. */
  const ingest = Effect.fnUntraced(function*<E>({ bytes, declared, insert, ...terms }: IngestRequest<E>) {
    const resultBytesMax = Math.max(imageBytesMax, growthMax * bytes.length)
    const normal = yield* media.normalise(bytes, { declared, owner: terms.account, resultBytesMax }).pipe(
      Effect.mapError((error) => {
        switch (error.reason._tag) {
          case "TookTooLong":
          case "DecoderFailed":
            return new UndecodedImage()
          case "GrewTooLong":
            return new UnreadableImage({ message: tooLongCopyMessage(error.reason.bytesMax) })
          default:
            return asUnreadable(error)
        }
      })
    )
    const id = yield* Effect.provideService(UploadId.make, SecureRandom.SecureRandom, random)
    const { height, mime, width } = normal
    const image: KeptImage = { ...terms, id, mime, width, height, bytes: normal.bytes.length }
    yield* insert(image)
    yield* blobs.put(imageKey(id), Stream.succeed(normal.bytes), { bytesMax: image.bytes, contentType: mime }).pipe(
      Effect.mapError(asStorageError),
      Effect.onError(() => discard([id]))
    )
    return image
  })

  /** Deletes images that no job uses. The sweep deletes those that cannot be deleted now. */
  const discard = (ids: ReadonlyArray<UploadId>) =>
    ids.length === 0
      ? Effect.void
      : Effect.andThen(blobs.delete(ids.map(imageKey)), images.delete(ids)).pipe(
        Effect.catch((error) =>
          Effect.logWarning("Images that no job needs could not be deleted; the sweep retries", error)
        )
      )

  return { pixelsOf, ingest, discard }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const asUnreadable = ({ message }: MediaError) => new UnreadableImage({ message })

/** Callers cannot act on the difference between a failing blob store and a failing database. */
const asStorageError = (error: BlobError): StorageError =>
  new StorageError({
    operation: "BlobStore.put",
    reason: error.reason._tag === "Unavailable" ? "unavailable" : "failed",
    cause: error
  })
