/**
 * A generator that paints pictures and videos by rules, without a model: offline, free,
 * and deterministic. From text it paints one of its scenes, still or in motion. From
 * reference images it paints their content in the colours of the prompt, or a video that
 * starts with the image.
 *
 * The operation contains everything that the drawing needs, except references. A process
 * that polls an unknown operation draws it again and gets the same result. With
 * references the operation is `Lost` there, and has to be submitted again with them.
 *
 * The same build draws the same bytes, of a video with the same encoder. Another version
 * of this package, of Skia or of libvips can draw a slightly different picture.
 */
import { Generator, GeneratorError } from "@kinora/generator"
import { Deferred, Duration, Effect, Exit, Layer, Option, Stream } from "effect"
import { chooseEncoder, type EncoderChoice, FfmpegUnusable } from "./internal/clip/chooseEncoder.ts"
import * as DrawingPool from "./internal/DrawingPool.ts"
import { decode, drawableOf, modes } from "./internal/drawings.ts"
import * as Load from "./internal/Load.ts"
import { referencesMax } from "./internal/painting/layout.ts"
import { foreign, makePictures, unfinished } from "./internal/pictures.ts"
import * as References from "./internal/References.ts"

/** Options for `layer` and `make`. */
export interface ProceduralGeneratorOptions {
  /** Maximum number of drawings at the same time. Default: the number of cores minus 1, at least 1. */
  readonly threads?: number | undefined
  /** Maximum number of pictures that are drawn or wait for a thread. Beyond it, calls fail with `Transient`. Default 64. */
  readonly queueMax?: number | undefined
  /** Maximum number of finished pictures that wait to be collected. The oldest is dropped, and drawn again on demand. Default 16. */
  readonly finishedMax?: number | undefined
  /** Maximum time that `poll` waits for the picture. Default 1 second. */
  readonly pollTimeout?: Duration.Input | undefined
  /** Maximum length of a prompt, in UTF-16 code units. Default 20,000. */
  readonly promptMax?: number | undefined
  /** Maximum size of a reference image, in bytes. Default 64 MiB. */
  readonly referenceBytesMax?: number | undefined
  /** Encoder of videos. `auto` tries the program `ffmpeg` once, for the first video. Default `auto`. */
  readonly encoder?: EncoderChoice | undefined
  /** Path or name of the program `ffmpeg`. Default `ffmpeg`. */
  readonly ffmpeg?: string | undefined
  /** Enables the load mode, for drills: one drawing per shape, made unique for each request. Default: disabled. */
  readonly load?: LoadOptions | undefined
}

/** Options of the load mode. */
export type LoadOptions = Load.LoadOptions

export {
  /** Which encoder makes videos. */
  type EncoderChoice,
  /** The encoder `ffmpeg` was required, and it does not work on this machine. */
  FfmpegUnusable,
  /** Supported modes. */
  modes,
  /** Maximum number of reference images of a picture. A video accepts one. */
  referencesMax
}

/** Provides the generator with its own threads. Fails with `FfmpegUnusable` only if `encoder` is `ffmpeg`. */
export const layer = (
  options: ProceduralGeneratorOptions = {}
): Layer.Layer<Generator.Generator, FfmpegUnusable> =>
  Layer.effect(
    Generator.Generator,
    Effect.gen(function*() {
      const ffmpeg = yield* chooseEncoder(options.encoder ?? "auto", options.ffmpeg ?? "ffmpeg")
      const pool = yield* DrawingPool.make({ threads: options.threads, ffmpeg })
      return yield* make(options.load === undefined ? pool : yield* Load.make(pool, options.load), options)
    })
  )

/** Creates the generator on the threads of `pool`. */
export const make = Effect.fnUntraced(function*(
  pool: DrawingPool.DrawingPool,
  options: ProceduralGeneratorOptions = {}
) {
  const { promptMax = 20_000, referenceBytesMax = 64 * 1024 * 1024 } = options
  const { frame, shrink } = References.make({ bytesMax: referenceBytesMax })
  const pollTimeout = Duration.fromInputUnsafe(options.pollTimeout ?? "1 second")
  const pictures = yield* makePictures(pool, options)

  return Generator.Generator.of({
    resubmit: "safe",

    submit: Effect.fn("ProceduralGenerator.submit")(function*(request) {
      const operation = yield* drawableOf(request, promptMax)
      // Checked before the images are read, which is most of the work of a submission.
      yield* pictures.checkRoom(request.id)
      const { height, seconds, width } = operation
      const references = seconds === null
        ? yield* shrink(request.images, width, height)
        : yield* Effect.forEach(request.images, (image) => frame(image, width, height))
      yield* pictures.begin(operation, references)
      return operation
    }),

    poll: Effect.fn("ProceduralGenerator.poll")(function*(operation) {
      const drawable = decode(operation)
      if (drawable === undefined) return Generator.failed(foreign)
      const picture = yield* pictures.begin(drawable, [])
      const exit = yield* Effect.timeoutOption(Effect.exit(Deferred.await(picture.drawn)), pollTimeout)
      if (Option.isNone(exit)) return Generator.pending(Duration.zero, picture.progress())
      if (Exit.isSuccess(exit.value)) return Generator.succeeded
      const error = Exit.findErrorOption(exit.value)
      return Generator.failed(Option.getOrElse(error, () => unfinished))
    }),

    cancel: Effect.fn("ProceduralGenerator.cancel")(function*(operation) {
      const drawable = decode(operation)
      if (drawable !== undefined) yield* pictures.cancel(drawable.id)
    }),

    collect: Effect.fn("ProceduralGenerator.collect")(function*(operation) {
      const drawable = decode(operation)
      if (drawable === undefined) return yield* new GeneratorError.GeneratorError({ reason: foreign })
      const picture = yield* pictures.begin(drawable, [])
      const { bytes, poster } = yield* Effect.mapError(
        Deferred.await(picture.drawn),
        (reason) => new GeneratorError.GeneratorError({ reason })
      )
      // A picture that was read is stored by the caller, or is drawn again on demand.
      yield* Effect.addFinalizer(() => pictures.drop(drawable.id, picture))
      const { format, height, seconds, width } = drawable
      const body = Stream.fromIterable(partsOf(bytes), { chunkSize: 1 })
      if (seconds === null) return { mime: `image/${format}`, width, height, body }
      const duration = Duration.seconds(seconds)
      return { mime: "video/mp4", width, height, duration, poster: poster ?? undefined, body }
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const partSize = 64 * 1024

const partsOf = (bytes: Uint8Array): Iterable<Uint8Array> => ({
  *[Symbol.iterator]() {
    for (let start = 0; start < bytes.length; start += partSize) yield bytes.subarray(start, start + partSize)
  }
})
