/** Previews, posters and thumbnails of results. */
import { Media } from "@kinora/media/Media"
import type { MediaError } from "@kinora/media/MediaError"
import type { VideoFacts } from "@kinora/media/MediaFile"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, Option, Semaphore, Stream } from "effect"
import type { File, Output, StoredFile } from "../../Generation.ts"
import * as StoredBytes from "../storedBytes.ts"
import * as ResultFiles from "./resultFiles.ts"
import { retryTransient } from "./retries.ts"
import { storeFile } from "./storeFile.ts"
import { mediaFileOf, rejectResult } from "./verifyResult.ts"

/** Options for `makeDerivedImages`. */
export interface DerivedImagesOptions {
  /** Maximum length of an image that is read to make smaller ones, in bytes. */
  readonly derivedBytesMax: number
  /** Maximum number of retries of a call that fails for a transient reason. */
  readonly retries: number
  /** Maximum number of results whose small images are derived at the same time. */
  readonly derivedMax: number
}

/** Makes the functions that derive and store the small images of a result. */
export const makeDerivedImages = Effect.fnUntraced(function*(options: DerivedImagesOptions) {
  const { derivedBytesMax, derivedMax, retries } = options
  const blobs = yield* BlobStore
  const media = yield* Media
  const derive = yield* makeDerive
  const permits = Semaphore.makeUnsafe(derivedMax)
  const persist = retryTransient(retries)

  /** Small images of an image. Omitted if the image is too large to process; fails with `upstream_error` if it is damaged. */
  const ofImage = Effect.fnUntraced(
    function*(job: ClaimedJob, content: StoredFile) {
      if (content.bytes > derivedBytesMax) {
        yield* Effect.logWarning("The result is too large for a preview", job.job, content.bytes)
        return none
      }
      const { smaller, thumb } = yield* derive(job, "preview", yield* StoredBytes.read(blobs, content))
      return { ...none, preview: smaller, thumb }
    },
    (images, job) =>
      Effect.catchTag(
        images,
        "MediaError",
        (error) => isTooLarge(error) ? withoutImages(error) : rejectResult(job, error)
      ),
    permits.withPermits(1),
    persist
  )

  const ofPoster = Effect.fnUntraced(
    function*(job: ClaimedJob, poster: Uint8Array) {
      const { smaller, thumb } = yield* derive(job, "poster", poster)
      return { ...none, poster: smaller, thumb }
    },
    Effect.catchTag("MediaError", withoutImages),
    permits.withPermits(1),
    persist
  )

  /**
   * Small images of a video, from the poster that its generator supplied, or from its first
   * frame. Omitted if there is neither, and if the poster is damaged.
   */
  const ofVideo = Effect.fnUntraced(
    function*(job: ClaimedJob, content: StoredFile, facts: VideoFacts, supplied: Uint8Array | undefined) {
      if (supplied !== undefined) return yield* ofPoster(job, supplied)
      const frame = yield* persist(media.firstFrame(mediaFileOf(blobs, content), facts))
      return Option.isSome(frame) ? yield* ofPoster(job, frame.value) : none
    }
  )

  return { ofImage, ofVideo }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const none: Omit<Output, "content"> = { preview: null, thumb: null, poster: null }

/** Makes a function that stores a smaller copy of an image and a thumbnail of that copy. */
const makeDerive = Effect.gen(function*() {
  const blobs = yield* BlobStore
  const media = yield* Media

  return Effect.fnUntraced(function*(job: ClaimedJob, file: "preview" | "poster", bytes: Uint8Array) {
    const smaller = yield* media.preview(bytes)
    const thumb = yield* media.thumb(smaller.bytes)
    const store = (file: File, { bytes, mime }: typeof thumb) =>
      storeFile(blobs, {
        key: ResultFiles.keyOf(job, file),
        mime,
        body: Stream.succeed(bytes),
        bytesMax: bytes.length
      })
    return { smaller: yield* store(file, smaller), thumb: yield* store("thumb", thumb) }
  })
})

const withoutImages = (error: MediaError) =>
  Effect.as(Effect.logWarning("The result has no preview and no thumbnail", error), none)

/** Returns `true` if an image exceeds a limit of the media library and may otherwise be valid. */
const isTooLarge = ({ reason }: MediaError): boolean =>
  reason._tag === "TooManyBytes" || reason._tag === "TooManyPixels" || reason._tag === "TookTooLong"
