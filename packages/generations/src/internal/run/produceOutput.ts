/**
 * Produces the files of one generation: runs the operation of its generator, stores and
 * verifies the result, derives the small images, and asks the moderation. Runs outside any unit of work; another worker
 * can repeat all of it from the job's checkpoint.
 */
import type { Generator, Operation } from "@kinora/generator/Generator"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { BlobStore } from "@kinora/storage/BlobStore"
import { Effect } from "effect"
import type { Generation, Output } from "../../Generation.ts"
import { makeDerivedImages } from "./derivedImages.ts"
import { isResultMime, type Source } from "./generatorRequest.ts"
import { isLost, makeRunOperation, type OperationRequest } from "./operation.ts"
import { makeModerateOutput } from "./outputModeration.ts"
import * as ResultFiles from "./resultFiles.ts"
import { retryGone, retryTransient, type RunError } from "./retries.ts"
import { storeFile } from "./storeFile.ts"
import { makeVerifyResult, rejectResult } from "./verifyResult.ts"

/** Limits of a run. */
export interface RunOptions {
  /** Maximum length of a result, in bytes. Default 2 GiB. */
  readonly resultBytesMax?: number | undefined
  /**
   * Maximum length of an image that is read to make a preview and a thumbnail, in bytes.
   * A longer one has neither. Two images are in memory at the same time. Default
   * 64 MiB, which is also the limit of `Media`.
   */
  readonly derivedBytesMax?: number | undefined
  /** Maximum number of retries of a call that fails for a transient reason. Default 6, over about 30 seconds. */
  readonly retries?: number | undefined
}

/** Makes a function that produces the files of one generation. */
export const makeProduceOutput = Effect.fnUntraced(function*(options: RunOptions) {
  const { derivedBytesMax = 64 * 1024 ** 2, resultBytesMax = 2 * 1024 ** 3, retries = 6 } = options
  const blobs = yield* BlobStore
  const runOperation = yield* makeRunOperation({ retries })
  const verifyResult = yield* makeVerifyResult({ retries })
  const derivedImages = yield* makeDerivedImages({ derivedBytesMax, retries })
  const moderateOutput = yield* makeModerateOutput({ retries })

  const collect = Effect.fnUntraced(
    function*(job: ClaimedJob, generator: Generator["Service"], operation: Operation) {
      const { body, mime, poster } = yield* generator.collect(operation)
      const key = ResultFiles.keyOf(job, "content")
      const content = yield* Effect.catchReason(
        storeFile(blobs, { key, mime: storedMime(mime), body, bytesMax: resultBytesMax }),
        "BlobError",
        "TooLarge",
        (tooLarge) => rejectResult(job, tooLarge)
      )
      return { content, poster }
    },
    Effect.scoped,
    retryTransient(retries)
  )

  const runAndCollect = Effect.fnUntraced(function*(request: OperationRequest) {
    const operation = yield* runOperation(request)
    return yield* collect(request.job, request.source.generator, operation)
  })

  return Effect.fn("Generations.produceOutput")(function*(job: ClaimedJob, generation: Generation, source: Source) {
    const isGone = (error: RunError) => isLost(error) && source.generator.resubmit === "safe"
    const { content, poster } = yield* Effect.catchIf(
      runAndCollect({ job, source, generation, isLost: false }),
      isGone,
      () => retryGone(retries, isGone)(runAndCollect({ job, source, generation, isLost: true }))
    )
    const facts = yield* verifyResult(job, generation.kind, content)
    const derived = yield* facts.kind === "image"
      ? derivedImages.ofImage(job, content)
      : derivedImages.ofVideo(job, content, facts, poster)
    const output: Output = { content: { ...content, mime: facts.mime }, ...derived }
    yield* moderateOutput(generation, output)
    return output
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The media type that a result is stored with before it is verified. Some types could run scripts in a browser. */
const storedMime = (declared: string): string => isResultMime(declared) ? declared : "application/octet-stream"
