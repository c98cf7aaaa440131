/** Verifies that a stored result is what its model makes. */
import { GeneratorError, Permanent } from "@kinora/generator/GeneratorError"
import { Media } from "@kinora/media/Media"
import type { MediaError } from "@kinora/media/MediaError"
import type { MediaFile } from "@kinora/media/MediaFile"
import type { ProbeError } from "@kinora/media/ProbeError"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import type { BlobError, TooLarge } from "@kinora/storage/BlobError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect, Stream } from "effect"
import type { Kind, StoredFile } from "../../Generation.ts"
import { retryTransient } from "./retries.ts"

/** Options for `makeVerifyResult`. */
export interface VerifyResultOptions {
  /** Maximum number of retries of a call that fails for a transient reason. */
  readonly retries: number
}

/**
 * Makes a function that probes the stored result of a job, and returns its facts. Fails with
 * `upstream_error` if it is not a complete image or video of the kind of the job. The
 * media type that the generator declared is not compared: file servers often declare a general or a wrong one.
 */
export const makeVerifyResult = Effect.fnUntraced(function*({ retries }: VerifyResultOptions) {
  const blobs = yield* BlobStore
  const media = yield* Media

  return Effect.fnUntraced(
    function*(job: ClaimedJob, kind: Kind, content: StoredFile) {
      const facts = yield* Effect.catchTag(
        media.probe(mediaFileOf(blobs, content)),
        "ProbeError",
        (error) => rejectResult(job, error)
      )
      if (facts.kind !== kind) {
        return yield* rejectResult(job, `The result is ${facts.mime}, not of kind ${kind}`)
      }
      return facts
    },
    retryTransient(retries)
  )
})

/** Returns a stored file as one that `Media` reads in parts. */
export const mediaFileOf = (blobs: BlobStore["Service"], { bytes, key }: StoredFile): MediaFile<BlobError> => ({
  bytes,
  read: (start, length) => Stream.mkUint8Array(blobs.get(key, { start, end: start + length - 1 }))
})

/** Logs why a result is invalid, and fails with the error that clients see. */
export const rejectResult = (job: ClaimedJob, cause: MediaError | ProbeError | TooLarge | string) =>
  Effect.andThen(
    Effect.logWarning("The generator returned an invalid result", job.job, cause),
    Effect.fail(new GeneratorError({ reason: invalidResult }))
  )

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalidResult = new Permanent({
  code: "upstream_error",
  reason: "provider",
  message: "The generator returned an invalid result. The job was refunded. Try again."
})
