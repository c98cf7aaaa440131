/**
 * Images that others sent, on their way into the blob store. The row comes first and
 * goes last, and nothing of this is in a unit of work: whatever a crash leaves has a
 * row, and the sweep finds it.
 */
import { Media } from "@kinora/media/Media"
import { StorageError } from "@kinora/persistence/StorageError"
import type { BlobError } from "@kinora/storage/BlobError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, Schema, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { UploadId } from "../../Generation.ts"
import { ImageStore, type KeptImage } from "../../ImageStore.ts"

/** The bytes are no image that is taken (D18). The message is for whoever sent them. */
class Unreadable extends Schema.TaggedError<Unreadable>("@kinora/generations/Unreadable")("Unreadable", {
  message: Schema.String
}) {}

/** For whom and until when an image is kept. */
export type Terms = Pick<KeptImage, "account" | "usableUntil" | "keptUntil">

/** Where the bytes of an image are. */
export const keyOf = (id: UploadId): string => `images/${UploadId.toUuid(id)}`

/** What keeping images is told. */
export interface KeepingOptions {
  /** The longest image that is taken, in bytes (D18). */
  readonly imageBytesMax: number
}

/** Builds what takes images and lets go of them. */
export const makeKeeping = Effect.fnUntraced(function*({ imageBytesMax }: KeepingOptions) {
  const blobs = yield* BlobStore
  const images = yield* ImageStore
  const media = yield* Media
  const random = yield* SecureRandom.SecureRandom

  /** Normalises an image and keeps it. `insert` writes its row, or refuses to. */
  const take = Effect.fnUntraced(function*<E>(
    bytes: Uint8Array,
    declared: string | undefined,
    terms: Terms,
    insert: (image: KeptImage) => Effect.Effect<void, E>
  ) {
    if (bytes.length > imageBytesMax) {
      return yield* new Unreadable({ message: tooLong(imageBytesMax) })
    }
    const normal = yield* media.normalise(bytes, { declared }).pipe(
      Effect.mapError(({ message }) => new Unreadable({ message }))
    )
    const id = yield* Effect.provideService(UploadId.make, SecureRandom.SecureRandom, random)
    const { height, mime, width } = normal
    const image: KeptImage = { ...terms, id, mime, width, height, bytes: normal.bytes.length }
    yield* insert(image)
    yield* blobs.put(keyOf(id), Stream.succeed(normal.bytes), { bytesMax: image.bytes, contentType: mime }).pipe(
      Effect.mapError(asStorageError),
      Effect.onError(() => discard([id]))
    )
    return image
  })

  /** Lets go of images that no job was created with. What cannot be deleted now is left to the sweep. */
  const discard = (ids: ReadonlyArray<UploadId>) =>
    ids.length === 0
      ? Effect.void
      : Effect.andThen(blobs.delete(ids.map(keyOf)), images.delete(ids)).pipe(
        Effect.catch((error) => Effect.logWarning("Images of a request that made no job were not deleted", error))
      )

  return { take, discard }
})

/** What is said of an image of more than `bytesMax` bytes. */
export const tooLong = (bytesMax: number): string =>
  `The image has more than ${bytesMax} bytes. Make it smaller or compress it more.`

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** To whom a picture is sent, a full disk is the same as a database that is away. */
const asStorageError = (error: BlobError): StorageError =>
  new StorageError({
    operation: "BlobStore.put",
    reason: error.reason._tag === "Unavailable" ? "unavailable" : "failed",
    cause: error
  })
