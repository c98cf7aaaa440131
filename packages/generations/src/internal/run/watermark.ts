/** Watermarks of results that trial credits paid for. */
import { GeneratorError, Permanent } from "@kinora/generator/GeneratorError"
import { Media } from "@kinora/media/Media"
import type { MediaError } from "@kinora/media/MediaError"
import type { Facts, VideoFacts } from "@kinora/media/MediaFile"
import type { ProbeError } from "@kinora/media/ProbeError"
import type { WatermarkError } from "@kinora/media/WatermarkError"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, Semaphore, Stream } from "effect"
import type { Generation, StoredFile } from "../../Generation.ts"
import * as StoredBytes from "../storedBytes.ts"
import { retryTransient } from "./retries.ts"
import { storeFile } from "./storeFile.ts"
import { mediaFileOf, rejectResult } from "./verifyResult.ts"

/** Options for `makeWatermark`. */
export interface WatermarkOptions {
  /** Maximum length of an image that is marked, in bytes. */
  readonly derivedBytesMax: number
  /** Maximum number of retries of a call that fails for a transient reason. */
  readonly retries: number
  /** Maximum number of images that are marked at the same time. */
  readonly derivedMax: number
}

/** Makes the functions that put the watermark on a result. */
export const makeWatermark = Effect.fnUntraced(function*({ derivedBytesMax, derivedMax, retries }: WatermarkOptions) {
  const blobs = yield* BlobStore
  const media = yield* Media
  const permits = Semaphore.makeUnsafe(derivedMax)
  const persist = retryTransient(retries)

  /** Fails if the job needs a watermark that this worker cannot make, before its generator does paid work. */
  const check = Effect.fnUntraced(function*({ id, kind, watermark }: Generation) {
    if (!watermark || kind === "image" || (yield* media.canWatermarkVideos)) return
    return yield* failUnmarked(id, "The program ffmpeg is not installed")
  })

  // Marking ends before the marked file replaces the result, so a retry never marks twice.
  const ofImage = Effect.fnUntraced(function*(job: ClaimedJob, { bytes: length, key }: StoredFile) {
    if (length > derivedBytesMax) return yield* failUnmarked(job.job, `The result has ${length} bytes`)
    const image = yield* persist(StoredBytes.read(blobs, { bytes: length, key }))
    const { bytes, mime } = yield* Effect.catchTag(
      media.watermark(image),
      "MediaError",
      (error) => error.reason._tag === "Corrupt" ? rejectResult(job, error) : failUnmarked(job.job, error)
    )
    return yield* persist(storeFile(blobs, { key, mime, body: Stream.succeed(bytes), bytesMax: bytes.length }))
  }, permits.withPermits(1))

  const ofVideo = Effect.fnUntraced(function*({ job }: ClaimedJob, content: StoredFile, facts: VideoFacts) {
    const { body, bytes, mime } = yield* media.watermarkVideo(mediaFileOf(blobs, content), facts).pipe(
      Effect.catchTag("WatermarkError", (error) => failUnmarked(job, error)),
      persist
    )
    const marked = yield* storeFile(blobs, { key: content.key, mime, body, bytesMax: bytes }).pipe(
      Effect.catchTag("WatermarkError", (error) => failUnmarked(job, error)),
      persist
    )
    // A full disk can truncate a video without an error of the program.
    yield* media.probe(mediaFileOf(blobs, marked), mime).pipe(
      Effect.catchTag("ProbeError", (error) => failUnmarked(job, error)),
      persist
    )
    return marked
  }, Effect.scoped)

  /** Replaces the stored result by a copy with the watermark. Fails if that is impossible. */
  const put = (job: ClaimedJob, content: StoredFile, facts: Facts) =>
    facts.kind === "image" ? ofImage(job, content) : ofVideo(job, content, facts)

  return { check, put }
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Logs why a result cannot be marked, and fails with the error that clients see. */
const failUnmarked = (job: string, cause: MediaError | ProbeError | WatermarkError | string) =>
  Effect.andThen(
    Effect.logError("The watermark of a result could not be made", job, cause),
    Effect.fail(new GeneratorError({ reason: unmarked }))
  )

const unmarked = new Permanent({
  code: "generation_failed",
  reason: "internal",
  message: "The watermark of the result could not be made. The job was refunded. Try again later."
})
