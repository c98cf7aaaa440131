/** Uploaded images: sent once, used by any number of jobs. */
import type { Media } from "@kinora/media/Media"
import * as Pipelining from "@kinora/persistence/Pipelining"
import type { StorageError } from "@kinora/persistence/StorageError"
import { UnitOfWork } from "@kinora/persistence/UnitOfWork"
import type { RateLimit } from "@kinora/rate-limit/RateLimit"
import type { BlobStore } from "@kinora/storage/BlobStore"
import { Context, DateTime, type Duration, Effect, Layer } from "effect"
import type { SecureRandom } from "effect/crypto"
import { type ImageMime, UploadId } from "./Generation.ts"
import * as GenerationError from "./GenerationError.ts"
import { ImageStore, type KeptImage } from "./ImageStore.ts"
import { makeImageIngest, requestLimit } from "./internal/images/imageIngest.ts"
import { inputPixelsPerMinuteDefault, makeInputPixels } from "./internal/images/inputPixels.ts"
import * as UploadError from "./UploadError.ts"

/** An image that jobs of its account can use as input. */
export interface Upload {
  /** Value of `upload_id` in an input image. */
  readonly id: UploadId
  readonly mime: ImageMime
  /** Length of the stored copy, which is re-encoded and can differ from the length of the upload. */
  readonly bytes: number
  /** In pixels. */
  readonly width: number
  /** In pixels. */
  readonly height: number
  /** Until when jobs can be created with it. */
  readonly expiresAt: DateTime.Utc
}

/** Stores and removes uploads. Every upload belongs to one account. */
export class Uploads extends Context.Service<Uploads, {
  /**
   * Validates, re-encodes and stores an image. If the client declared a media type, it
   * must match the content. Fails with `InvalidImage`, `ImageTimedOut`, `InputPixelsExceeded`,
   * `TooManyUploads` or `TooManyUploadBytes`.
   */
  readonly create: (
    account: string,
    bytes: Uint8Array,
    declared: string | undefined
  ) => Effect.Effect<Upload, UploadError.UploadError | StorageError>

  /**
   * Removes an upload, and deletes its file unless a job that was created with it may
   * read it. Fails with `UploadNotFound` if the account has no usable upload with this id.
   */
  readonly remove: (account: string, id: string) => Effect.Effect<void, UploadError.UploadError | StorageError>
}>()("@kinora/generations/Uploads") {}

/** Options for `Uploads.layerWith`. */
export interface UploadsOptions {
  /** How long an upload can be used. Default 24 hours. */
  readonly ttl?: Duration.Input | undefined
  /** Maximum number of usable uploads of an account. Default 1,000. */
  readonly uploadsMax?: number | undefined
  /** Maximum length of the usable uploads of an account together, as they are stored, in bytes. Default 1 GiB. */
  readonly uploadBytesMax?: number | undefined
  /** Maximum length of an image, in bytes. Default 10 MiB. */
  readonly imageBytesMax?: number | undefined
  /** Maximum number of pixels of the input images of an account per calendar minute, with those of `Generations`. Default 500 million. */
  readonly inputPixelsPerMinute?: number | undefined
}

/** Makes the service. */
export const make = Effect.fnUntraced(function*(options: UploadsOptions) {
  const { imageBytesMax = 10 * 1024 ** 2, ttl = "24 hours", uploadBytesMax = 1024 ** 3, uploadsMax = 1_000 } = options
  const { inputPixelsPerMinute = inputPixelsPerMinuteDefault } = options
  const { afterCommit, atomically } = yield* UnitOfWork
  const images = yield* ImageStore
  const findExceeded = makeFindExceeded(images, { uploadBytesMax, uploadsMax })
  const countPixels = yield* makeInputPixels({ inputPixelsPerMinute })
  const { discard, ingest, pixelsOf } = yield* makeImageIngest({ imageBytesMax })

  /** Inserts the image if the account has room. The result is a value, since a failure would doom an open unit. */
  const insertIfRoom = Effect.fnUntraced(function*(image: KeptImage) {
    const { account, bytes } = image
    const [, exceeded] = yield* Pipelining.both(images.lockAccount(account), findExceeded(account, bytes))
    if (exceeded === undefined) yield* Pipelining.atCommit(images.insert([image]))
    return exceeded
  }, atomically)

  const insert = (image: KeptImage) =>
    Effect.flatMap(insertIfRoom(image), (exceeded) => exceeded === undefined ? Effect.void : refuse(exceeded))

  const create = Effect.fn("Uploads.create")(
    function*(account: string, bytes: Uint8Array, declared: string | undefined) {
      // Checked before the image is decoded, which is most of the work. `insert` checks again under a lock.
      const exceeded = yield* findExceeded(account, 1)
      if (exceeded !== undefined) return yield* refuse(exceeded)
      const pixels = yield* Effect.catchTag(pixelsOf(bytes, declared), "UnreadableImage", refuseUnreadable)
      const excess = yield* countPixels(account, pixels)
      if (excess !== undefined) return yield* refuse(new GenerationError.InputPixelsExceeded(excess))
      const at = yield* DateTime.now
      const expiresAt = DateTime.addDuration(at, ttl)
      const { height, id, mime, ...stored } = yield* ingest({
        account,
        bytes,
        declared,
        usableUntil: expiresAt,
        // Only jobs keep it for longer than it can be used.
        keptUntil: at,
        insert
      }).pipe(
        Effect.catchTags({ UnreadableImage: refuseUnreadable, UndecodedImage: refuseUndecoded })
      )
      return { id, mime, bytes: stored.bytes, width: stored.width, height, expiresAt }
    }
  )

  /** Ends the use of an upload. Its file is deleted after the commit, and by the sweep if this process dies before. */
  const withdraw = Effect.fnUntraced(function*(account: string, id: UploadId) {
    const at = yield* DateTime.now
    const outcome = yield* images.withdraw(account, id, at, DateTime.addDuration(at, requestLimit))
    if (outcome === "Dropped") yield* afterCommit(discard([id]))
    return outcome
  }, atomically)

  const remove = Effect.fn("Uploads.remove")(function*(account: string, text: string) {
    const id = UploadId.parse(text)
    const outcome = id === undefined ? "Missing" : yield* withdraw(account, id)
    if (outcome === "Missing") return yield* refuse(new UploadError.UploadNotFound())
  })

  return Uploads.of({ create, remove })
})

/** Services that uploads require. */
export type Requirements = BlobStore | ImageStore | Media | RateLimit | SecureRandom.SecureRandom | UnitOfWork

/** Uploads with these options. */
export const layerWith = (options: UploadsOptions): Layer.Layer<Uploads, never, Requirements> =>
  Layer.effect(Uploads, make(options))

/** Uploads with default options. */
export const layer: Layer.Layer<Uploads, never, Requirements> = layerWith({})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Makes a function that returns the limit that one more upload of a length exceeds, if any. */
const makeFindExceeded = (
  images: ImageStore["Service"],
  { uploadBytesMax, uploadsMax }: Readonly<Record<"uploadBytesMax" | "uploadsMax", number>>
) =>
  Effect.fnUntraced(function*(account: string, length: number) {
    const { bytes, count } = yield* images.countUsable(account, yield* DateTime.now)
    if (count >= uploadsMax) return new UploadError.TooManyUploads({ max: uploadsMax })
    return bytes + length > uploadBytesMax
      ? new UploadError.TooManyUploadBytes({ bytesMax: uploadBytesMax })
      : undefined
  })

const refuse = (reason: UploadError.UploadError["reason"]) => Effect.fail(new UploadError.UploadError({ reason }))

const refuseUnreadable = ({ message }: { readonly message: string }) =>
  refuse(new UploadError.InvalidImage({ message }))

const refuseUndecoded = () => refuse(new GenerationError.ImageTimedOut())
