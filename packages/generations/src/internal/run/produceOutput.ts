/**
 * Produces the files of one generation: runs the operation of its generator, stores and
 * verifies the result, marks it if trial credits paid, derives the small images, and asks the moderation. Runs outside any
 * unit of work; another worker can repeat all of it from the job's checkpoint.
 */
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { BlobStore } from "@kinora/storage/BlobStore"
import { type Duration, Effect } from "effect"
import type { Output } from "../../Generation.ts"
import { makeDerivedImages } from "./derivedImages.ts"
import { isResultMime } from "./generatorRequest.ts"
import { isLost, makeRunOperation, type Taken } from "./operation.ts"
import { makeModerateOutput } from "./outputModeration.ts"
import * as Progress from "./progress.ts"
import * as ResultFiles from "./resultFiles.ts"
import { retryGone, retryTransient, type RunError } from "./retries.ts"
import { storeFile } from "./storeFile.ts"
import type { RunningJob } from "./submission.ts"
import type { Upstreams } from "./upstreams.ts"
import { makeVerifyResult, rejectResult } from "./verifyResult.ts"
import { makeWatermark } from "./watermark.ts"

/** Limits of a run. */
export interface RunOptions {
  /** Maximum length of a result, in bytes. Default 2 GiB. */
  readonly resultBytesMax?: number | undefined
  /**
   * Maximum length of an image that is read to make a preview and a thumbnail, in bytes.
   * A longer one has neither, and fails a job whose result needs a watermark. Default 64 MiB,
   * which is also the limit of `Media`.
   */
  readonly derivedBytesMax?: number | undefined
  /**
   * Maximum number of results that are in memory to make previews and thumbnails, and as
   * many to put a watermark on them. Use the `concurrency` of `Media`. Default 2.
   */
  readonly derivedMax?: number | undefined
  /** Maximum number of retries of a call that fails for a transient reason. Default 6, over about 30 seconds. */
  readonly retries?: number | undefined
}

/** Options for `makeProduceOutput`. */
export interface ProduceOptions extends RunOptions {
  /** How long results can be downloaded. */
  readonly resultTtl: Duration.Input
}

/** Makes a function that produces the files of one generation. */
export const makeProduceOutput = Effect.fnUntraced(function*(options: ProduceOptions, upstreams: Upstreams) {
  const { derivedBytesMax = 64 * 1024 ** 2, derivedMax = 2, resultBytesMax = 2 * 1024 ** 3, resultTtl, retries = 6 } =
    options
  const blobs = yield* BlobStore
  const runOperation = yield* makeRunOperation({ resultTtl, retries, upstreams })
  const verifyResult = yield* makeVerifyResult({ retries })
  const watermark = yield* makeWatermark({ derivedBytesMax, derivedMax, retries })
  const derivedImages = yield* makeDerivedImages({ derivedBytesMax, derivedMax, retries })
  const moderateOutput = yield* makeModerateOutput({ retries })

  const collect = Effect.fnUntraced(
    function*(job: ClaimedJob, { sent, upstream }: Taken) {
      const { body, mime, poster } = yield* upstream.generator.collect(sent.operation)
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

  const runAndCollect = Effect.fnUntraced(function*(running: RunningJob) {
    return yield* collect(running.job, yield* runOperation(running))
  })

  const isRepeatable = (progress: Progress.Progress) =>
    progress._tag !== "Unsent" && upstreams.find(progress.upstream)?.generator.resubmit === "safe"

  /** Submits the job again at the upstream that has lost it. */
  const runAgain = (running: RunningJob) =>
    Effect.suspend(() => {
      const { progress } = running
      if (progress._tag === "Sent") running.progress = Progress.sending(progress.upstream, progress.failed)
      return runAndCollect(running)
    })

  return Effect.fn("Generations.produceOutput")(function*(running: RunningJob) {
    const { generation, job } = running
    const isGone = (error: RunError) => isLost(error) && isRepeatable(running.progress)
    yield* watermark.check(generation)
    const { content: collected, poster } = yield* Effect.catchIf(
      runAndCollect(running),
      isGone,
      () => retryGone(retries, isGone)(runAgain(running))
    )
    const facts = yield* verifyResult(job, generation.kind, collected)
    const content = generation.watermark ? yield* watermark.put(job, collected, facts) : collected
    const derived = yield* facts.kind === "image"
      ? derivedImages.ofImage(job, content)
      // The poster of a generator has no watermark. The first frame has the one of the video.
      : derivedImages.ofVideo(job, content, facts, generation.watermark ? undefined : poster)
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
