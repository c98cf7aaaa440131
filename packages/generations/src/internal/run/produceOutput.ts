/**
 * Makes the files of one generation: hands it to the model's generator, waits, and
 * stores what comes back. Nothing of this is in a unit of work, and all of it can
 * be done again by another worker from the job's checkpoint.
 */
import { Catalog } from "@kinora/catalog/Catalog"
import type { Model, OutputFormat } from "@kinora/catalog/Model"
import type { Format, GenerationRequest } from "@kinora/generator/GenerationRequest"
import type { Generator, Operation } from "@kinora/generator/Generator"
import { GeneratorError, Permanent, UnknownOutcome } from "@kinora/generator/GeneratorError"
import { Generators } from "@kinora/generator/Generators"
import { Media } from "@kinora/media/Media"
import type { MediaError } from "@kinora/media/MediaError"
import type { StorageError } from "@kinora/persistence/StorageError"
import type { ClaimedJob } from "@kinora/scheduler/Job"
import { Scheduler } from "@kinora/scheduler/Scheduler"
import type { SchedulerError } from "@kinora/scheduler/SchedulerError"
import type { BlobError } from "@kinora/storage/BlobError"
import { BlobStore } from "@kinora/storage/BlobStore"
import { DateTime, Duration, Effect, Option, Schedule, Schema, Semaphore, Stream } from "effect"
import type { File, Generation, Output, StoredFile } from "../../Generation.ts"
import { makeOpenImages } from "./generatorImages.ts"
import * as Files from "./resultFiles.ts"

/** Limits of what is made and how long it is tried. */
export interface ProductionOptions {
  /** The largest result, in bytes. Default 2 GiB. */
  readonly resultBytesMax?: number | undefined
  /**
   * The largest image that is read to make a preview and a thumb of it, in bytes; a
   * larger one goes without. Two are in memory at the same time. Default 64 MiB, as
   * much as `Media` reads.
   */
  readonly derivedBytesMax?: number | undefined
  /** How often a call that may succeed later is repeated. Default 6, over about half a minute. */
  readonly retries?: number | undefined
}

/** Why nothing was made. `SchedulerError`: the lease is another's. */
export type ProductionError = CallError | StorageError | SchedulerError

/** Builds the function that makes one generation's files. */
export const makeProduce = Effect.fnUntraced(function*(options: ProductionOptions) {
  const { derivedBytesMax = 64 * 1024 ** 2, resultBytesMax = 2 * 1024 ** 3, retries = 6 } = options
  const blobs = yield* BlobStore
  const catalog = yield* Catalog
  const generators = yield* Generators
  const media = yield* Media
  const scheduler = yield* Scheduler
  const openImages = yield* makeOpenImages
  const turns = Semaphore.makeUnsafe(derivedAtOnce)

  /** Repeats what fails for a passing reason, with growing pauses that respect what the generator asks for. */
  const persist = <A, E extends CallError, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.retry(effect, { while: isPassing, times: retries, schedule: pauses })

  const checkpoint = ({ epoch, job }: ClaimedJob, progress: Progress) =>
    untilStored(scheduler.checkpoint({ job, epoch, checkpoint: Schema.encodeSync(Progress)(progress) }))

  /** Hands the work over, unless an earlier attempt did and the work is not lost. */
  const submit = Effect.fnUntraced(
    function*(job: ClaimedJob, { generator, model }: Source, generation: Generation, isLost: boolean) {
      const progress = Option.flatMap(job.checkpoint, Schema.decodeUnknownOption(Progress))
      if (!isLost && Option.isSome(progress) && progress.value.operation !== undefined) return progress.value.operation
      const images = yield* persist(openImages(generation.images))
      if (generator.resubmit === "unsafe") {
        // The last attempt was lost between its request and the answer, which may have cost money.
        if (Option.isSome(progress)) return yield* new GeneratorError({ reason: new UnknownOutcome() })
        yield* checkpoint(job, {})
      }
      const operation = yield* persist(generator.submit(requestOf(generation, model, images)))
      yield* checkpoint(job, { operation })
      return operation
    }
  )

  const awaitEnd = Effect.fnUntraced(function*(generator: Generator["Service"], operation: Operation) {
    while (true) {
      const status = yield* persist(generator.poll(operation))
      if (status._tag === "Succeeded") return
      if (status._tag === "Failed") return yield* new GeneratorError({ reason: status.error })
      yield* Effect.sleep(status.after)
    }
  })

  const collect = Effect.fnUntraced(
    function*(key: string, generator: Generator["Service"], operation: Operation) {
      const { body, mime, poster } = yield* generator.collect(operation)
      // It is served as what it is said to be, so it may be nothing that a browser would run.
      if (!Object.hasOwn(formats, mime)) return yield* unusable
      return { content: yield* put(key, mime, body, resultBytesMax), poster }
    },
    Effect.scoped,
    persist
  )

  const put = <E>(key: string, mime: string, body: Stream.Stream<Uint8Array, E>, bytesMax: number) =>
    Effect.map(
      blobs.put(key, body, { bytesMax, contentType: mime }),
      ({ bytes, sha256 }): StoredFile => ({ key, mime, bytes, sha256 })
    )

  /** A smaller image, and a thumb of it. */
  const derive = Effect.fnUntraced(function*(job: ClaimedJob, file: "preview" | "poster", bytes: Uint8Array) {
    const smaller = yield* media.preview(bytes)
    const thumb = yield* media.thumb(smaller.bytes)
    const store = (file: File, { bytes, mime }: typeof thumb) =>
      put(Files.keyOf(job, file), mime, Stream.succeed(bytes), bytes.length)
    return { smaller: yield* store(file, smaller), thumb: yield* store("thumb", thumb) }
  })

  /** The small images of a result that is an image. One that is too much work goes without; one that is damaged is no result. */
  const deriveImage = Effect.fnUntraced(
    function*(job: ClaimedJob, content: StoredFile) {
      if (content.bytes > derivedBytesMax) {
        yield* Effect.logWarning("A result is too large for a preview", job.job, content.bytes)
        return nothingDerived
      }
      const { smaller, thumb } = yield* derive(job, "preview", yield* Stream.mkUint8Array(blobs.get(content.key)))
      return { ...nothingDerived, preview: smaller, thumb }
    },
    Effect.catchTag("MediaError", (error) => isTooMuch(error) ? withoutImages(error) : Effect.fail(error)),
    turns.withPermits(1),
    persist
  )

  /** The small images of a result that is a video. What is wrong with its poster is no reason to lose it. */
  const deriveVideo = Effect.fnUntraced(
    function*(job: ClaimedJob, poster: Uint8Array | undefined) {
      if (poster === undefined) return nothingDerived
      const { smaller, thumb } = yield* derive(job, "poster", poster)
      return { ...nothingDerived, poster: smaller, thumb }
    },
    Effect.catchTag(
      "MediaError",
      (error) => Effect.as(Effect.logWarning("A poster is no image", error), nothingDerived)
    ),
    turns.withPermits(1),
    persist
  )

  /** Has the work done, and fetches the result. */
  const obtain = Effect.fnUntraced(
    function*(job: ClaimedJob, source: Source, generation: Generation, isLost: boolean) {
      const { generator } = source
      const operation = yield* submit(job, source, generation, isLost)
      // Who lost the lease or has to stop leaves the work alone: another worker awaits it already, or will.
      yield* Effect.onInterrupt(
        awaitEnd(generator, operation),
        () => Effect.when(Effect.ignore(generator.cancel(operation)), isOver(job))
      )
      return yield* collect(Files.keyOf(job, "content"), generator, operation)
    }
  )

  return Effect.fn("Generations.produce")(function*(job: ClaimedJob, generation: Generation) {
    const source = yield* sourceOf(catalog, generators, generation)
    const isGone = (error: ProductionError) => isLost(error) && source.generator.resubmit === "safe"
    const again = Effect.retry(obtain(job, source, generation, true), {
      while: isGone,
      times: retries,
      schedule: pauses
    })
    const { content, poster } = yield* Effect.catchIf(obtain(job, source, generation, false), isGone, () => again)
    const derived = yield* generation.kind === "image" ? deriveImage(job, content) : deriveVideo(job, poster)
    const output: Output = { content, ...derived }
    return output
  })
})

/**
 * Repeats while the database is away, which is no reason for a job to fail (D7). The
 * job's time limit ends it, or a lease that was lost meanwhile.
 */
export const untilStored = <A, E extends StorageError | SchedulerError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.retry(effect, { while: (error) => error._tag === "StorageError" && error.isRetryable, schedule: pauses })

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What calls fail with whose other end is not the database. */
type CallError = GeneratorError | BlobError | MediaError

/** Results whose small images are made at the same time. */
const derivedAtOnce = 2

const nothingDerived: Omit<Output, "content"> = { preview: null, thumb: null, poster: null }

const withoutImages = (error: MediaError) =>
  Effect.as(Effect.logWarning("A result has no small images", error), nothingDerived)

/** Whether nothing is wrong with an image but its size. */
const isTooMuch = ({ reason }: MediaError): boolean =>
  reason._tag === "TooManyBytes" || reason._tag === "TooManyPixels" || reason._tag === "TookTooLong"

const unusable = new GeneratorError({
  reason: new Permanent({
    code: "upstream_error",
    reason: "provider",
    message: "The generator delivered something that is neither an image nor a video; the job was refunded. Try again."
  })
})

/** What makes a generation. */
interface Source {
  readonly generator: Generator["Service"]
  readonly model: Model
}

/** The job's checkpoint. Without an operation: the work is about to be submitted. */
const Progress = Schema.Struct({ operation: Schema.optionalKey(Schema.Json) })
type Progress = typeof Progress.Type

/** Doubles from half a second, to at most ten; longer only where the generator asks for it. */
const pauses = Schedule.exponential("500 millis").pipe(
  Schedule.setInputType<ProductionError>(),
  Schedule.jittered,
  Schedule.modifyDelay(({ duration, input }) =>
    Effect.succeed(Duration.max(Duration.min(duration, Duration.seconds(10)), askedPause(input)))
  )
)

const askedPause = (error: ProductionError): Duration.Duration =>
  error._tag === "GeneratorError" && error.reason._tag === "Transient"
    ? error.reason.retryAfter ?? Duration.zero
    : Duration.zero

/** Whether the generator does not know the work any more. */
const isLost = (error: ProductionError): boolean => error._tag === "GeneratorError" && error.reason._tag === "Lost"

/** Whether the same call may succeed later. */
const isPassing = (error: CallError): boolean => {
  switch (error._tag) {
    case "GeneratorError":
      return error.isRetryable
    case "BlobError":
      return error.reason._tag === "Unavailable"
    case "MediaError":
      return false
  }
}

/**
 * Whether the job has run as long as it may, so that nobody takes it over. A timer
 * may be a little early, and in less than a second nobody could go on with it.
 */
const isOver = ({ startedAt, timeLimit }: ClaimedJob) =>
  Effect.map(
    DateTime.now,
    (now) =>
      Option.exists(timeLimit, (limit) =>
        DateTime.isLessThan(DateTime.addDuration(startedAt, limit), DateTime.add(now, { seconds: 1 })))
  )

const sourceOf = Effect.fnUntraced(function*(
  catalog: Catalog["Service"],
  generators: Generators["Service"],
  generation: Generation
) {
  const model = catalog.find(generation.model)
  const generator = Option.flatMap(model, ({ driver }) => generators.get(driver.name))
  if (Option.isNone(model) || Option.isNone(generator)) {
    yield* Effect.logError("A model has no generator on this worker", generation.model)
    return yield* new GeneratorError({
      reason: new Permanent({
        code: "generation_failed",
        reason: "internal",
        message: "The model cannot be served at the moment; try another one, or later."
      })
    })
  }
  return { model: model.value, generator: generator.value }
})

const requestOf = (
  generation: Generation,
  model: Model,
  images: GenerationRequest["images"]
): GenerationRequest => ({
  id: generation.id,
  model: { name: model.id, options: model.driver.options },
  kind: generation.kind,
  mode: generation.mode,
  prompt: generation.prompt,
  params: generation.params,
  images,
  format: formats[model.output_formats[0]!]
})

/** What generators call the media types of a model. */
const formats: Readonly<Record<OutputFormat, Format>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/webp": "webp",
  "video/mp4": "mp4",
  "video/webm": "webm"
}
