/** Images that are sent once and used by any number of jobs (D19). */
import type { Media } from "@kinora/media/Media"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { BlobStore } from "@kinora/storage/BlobStore"
import { Context, DateTime, type Duration, Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { type ImageMime, UploadId } from "./Generation.ts"
import { ImageStore, type KeptImage } from "./ImageStore.ts"
import { requestLimit } from "./internal/create/inputImages.ts"
import { makeKeeping } from "./internal/images/imageIngest.ts"
import * as UploadError from "./UploadError.ts"

/** An image that jobs of its account can start from. */
export interface Upload {
  /** What `upload_id` of an input image names. */
  readonly id: UploadId
  readonly mime: ImageMime
  /** Length of what is kept, which is not what was sent: the image was written anew (D18). */
  readonly bytes: number
  /** Pixels. */
  readonly width: number
  /** Pixels. */
  readonly height: number
  /** Until when jobs can be created with it. */
  readonly expiresAt: DateTime.Utc
}

/** Takes and removes uploads. Every one belongs to the account given. */
export class Uploads extends Context.Service<Uploads, {
  /**
   * Checks, normalises and keeps an image. `declared` is the media type that the
   * client gave, if it did; it must be the one that is found.
   */
  readonly create: (
    account: string,
    bytes: Uint8Array,
    declared: string | undefined
  ) => Effect.Effect<Upload, UploadError.UploadError | StorageError>

  /**
   * Ends the use of an upload at once; another time it is `UploadNotFound`. Jobs that
   * were created with it keep it until they have ended.
   */
  readonly remove: (account: string, id: string) => Effect.Effect<void, UploadError.UploadError | StorageError>
}>()("@kinora/generations/Uploads") {}

/** What uploads are told. */
export interface UploadsOptions {
  /** How long an upload can be used (D19). Default 24 hours. */
  readonly ttl?: Duration.Input | undefined
  /** Uploads that an account can use at the same time. Default 1,000. */
  readonly uploadsMax?: number | undefined
  /** The longest image, in bytes (D18). Default 10 MiB. */
  readonly imageBytesMax?: number | undefined
}

/** Uploads over the surrounding services. */
export const make = Effect.fnUntraced(function*(options: UploadsOptions) {
  const { imageBytesMax = 10 * 1024 ** 2, ttl = "24 hours", uploadsMax = 1_000 } = options
  const { atomically } = yield* UnitOfWork
  const images = yield* ImageStore
  const { take } = yield* makeKeeping({ imageBytesMax })
  const tooMany = refuse(new UploadError.TooManyUploads({ max: uploadsMax }))

  /** From here on it counts, though nobody can know its id before its bytes are kept. */
  const insert = Effect.fnUntraced(function*(image: KeptImage) {
    const usable = yield* images.countUsable(image.account, yield* DateTime.now)
    if (usable >= uploadsMax) return false
    yield* images.insert([image])
    return true
  }, atomically)

  const create = Effect.fn("Uploads.create")(
    function*(account: string, bytes: Uint8Array, declared: string | undefined) {
      const at = yield* DateTime.now
      // Looked at before the image is read, which is most of the work; what counts is the look in the unit.
      if ((yield* images.countUsable(account, at)) >= uploadsMax) return yield* tooMany
      const expiresAt = DateTime.addDuration(at, ttl)
      const terms = { account, usableUntil: expiresAt, keptUntil: DateTime.addDuration(at, requestLimit) }
      const { height, id, mime, ...kept } = yield* take(
        bytes,
        declared,
        terms,
        (image) =>
          Effect.flatMap(
            insert(image),
            (inserted) => inserted ? Effect.void : tooMany
          )
      ).pipe(
        Effect.catchTag("Unreadable", ({ message }) => refuse(new UploadError.InvalidImage({ message })))
      )
      return { id, mime, bytes: kept.bytes, width: kept.width, height, expiresAt }
    }
  )

  const remove = Effect.fn("Uploads.remove")(function*(account: string, text: string) {
    const id = UploadId.parse(text)
    const withdrawn = id !== undefined && (yield* images.withdraw(account, id, yield* DateTime.now))
    if (!withdrawn) return yield* refuse(new UploadError.UploadNotFound())
  })

  return Uploads.of({ create, remove })
})

/** What uploads are built on. */
export type Requirements = BlobStore | ImageStore | Media | SecureRandom.SecureRandom | UnitOfWork

/** Uploads with these options. */
export const layerWith = (options: UploadsOptions): Layer.Layer<Uploads, never, Requirements> =>
  Layer.effect(Uploads, make(options))

/** `layerWith` with its defaults. */
export const layer: Layer.Layer<Uploads, never, Requirements> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const refuse = (reason: UploadError.UploadError["reason"]) => Effect.fail(new UploadError.UploadError({ reason }))
