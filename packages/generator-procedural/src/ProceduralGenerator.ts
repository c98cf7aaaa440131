/**
 * A generator that paints pictures by rules, without a model: offline, free, and
 * deterministic. From text it paints one of its scenes; from reference images it paints
 * their content in the colours of the prompt.
 *
 * The operation contains everything that the drawing needs, except references. A process
 * that polls an unknown operation draws it again and gets the same picture. With
 * references the operation is `Lost` there, and has to be submitted again with them.
 *
 * The same build draws the same bytes. Another version of this package, of Skia or of
 * libvips can draw a slightly different picture.
 */
import { type GenerationRequest, Generator, GeneratorError } from "@kinora/generator"
import { Deferred, Duration, Effect, Exit, FiberMap, Layer, Option, Schema, Stream } from "effect"
import * as DrawingPool from "./internal/DrawingPool.ts"
import { referencesMax } from "./internal/painting/layout.ts"
import * as References from "./internal/References.ts"
import * as PictureSize from "./PictureSize.ts"

/** Options for `layer` and `make`. */
export interface ProceduralGeneratorOptions {
  /** Maximum number of pictures that are drawn at the same time. Default: the number of cores minus 1, at least 1. */
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
}

/** Supported modes. */
export const modes: ReadonlyArray<GenerationRequest.Mode> = ["text_to_image", "image_to_image"]

/** Maximum number of reference images of a request. */
export { referencesMax }

/** Provides the generator with its own threads. */
export const layer = (options: ProceduralGeneratorOptions = {}): Layer.Layer<Generator.Generator> =>
  Layer.effect(
    Generator.Generator,
    Effect.flatMap(DrawingPool.make({ threads: options.threads }), (pool) => make(pool, options))
  )

/** Creates the generator on the threads of `pool`. */
export const make = Effect.fnUntraced(function*(
  pool: DrawingPool.DrawingPool,
  options: ProceduralGeneratorOptions = {}
) {
  const { promptMax = 20_000, referenceBytesMax = 64 * 1024 * 1024 } = options
  const shrink = References.make({ bytesMax: referenceBytesMax })
  const pollTimeout = Duration.fromInputUnsafe(options.pollTimeout ?? "1 second")
  const pictures = yield* makePictures(pool, options)

  return Generator.Generator.of({
    resubmit: "safe",

    submit: Effect.fn("ProceduralGenerator.submit")(function*(request) {
      const drawing = yield* drawingOf(request, promptMax)
      // Before the images are read, which is most of the work of a submission.
      yield* pictures.checkRoom(request.id)
      const references = yield* shrink(request.images, drawing.width, drawing.height)
      const operation = { ...drawing, references: references.length } satisfies Drawable
      yield* pictures.begin(operation, references)
      return operation
    }),

    poll: Effect.fn("ProceduralGenerator.poll")(function*(operation) {
      const drawable = decode(operation)
      if (drawable === undefined) return Generator.failed(foreign)
      const picture = yield* pictures.begin(drawable, [])
      const exit = yield* Effect.timeoutOption(Effect.exit(Deferred.await(picture)), pollTimeout)
      if (Option.isNone(exit)) return Generator.pending(Duration.zero)
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
      const bytes = yield* Effect.mapError(
        Deferred.await(picture),
        (reason) => new GeneratorError.GeneratorError({ reason })
      )
      // A picture that was read is stored by the caller, or is drawn again on demand.
      yield* Effect.addFinalizer(() => pictures.drop(drawable.id, picture))
      const { format, height, width } = drawable
      return { mime: `image/${format}`, width, height, body: Stream.fromIterable(partsOf(bytes), { chunkSize: 1 }) }
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A picture that is drawn or finished. */
type Picture = Deferred.Deferred<Uint8Array, GeneratorError.Permanent>

/** The pictures of this process, by the id of their request. */
const makePictures = Effect.fnUntraced(function*(
  pool: DrawingPool.DrawingPool,
  { finishedMax = 16, queueMax = 64 }: ProceduralGeneratorOptions
) {
  const fibers = yield* FiberMap.make<string>()
  const known = new Map<string, Picture>()

  /** Drops the oldest finished pictures that were not collected. */
  const dropFinished = () => {
    const finished = [...known].filter(([, picture]) => Deferred.isDoneUnsafe(picture))
    for (const [id] of finished.slice(0, Math.max(0, finished.length - finishedMax))) known.delete(id)
  }

  /** Fails with `Transient` if the queue has no room for a new picture. */
  const checkRoom = (id: string) =>
    Effect.flatMap(
      FiberMap.size(fibers),
      (size) => size >= queueMax && !known.has(id) ? Effect.fail(busy) : Effect.void
    )

  /** Returns the picture of an operation. Starts drawing it if this process does not have it. */
  const begin = Effect.fnUntraced(function*(operation: Drawable, references: ReadonlyArray<string>) {
    const found = known.get(operation.id)
    if (found !== undefined) return found
    if (references.length < operation.references) return yield* lost
    yield* checkRoom(operation.id)
    const picture: Picture = Deferred.makeUnsafe()
    known.set(operation.id, picture)
    dropFinished()
    yield* FiberMap.run(fibers, operation.id, Deferred.into(drawn(pool, operation, references), picture))
    return picture
  }, Effect.uninterruptible)

  const drop = (id: string, picture: Picture) =>
    Effect.sync(() => {
      if (known.get(id) === picture) known.delete(id)
    })

  const cancel = Effect.fnUntraced(function*(id: string) {
    const picture = known.get(id)
    if (picture === undefined) return
    yield* Deferred.fail(picture, cancelled)
    yield* drop(id, picture)
    yield* FiberMap.remove(fibers, id)
  })

  return { begin, cancel, checkRoom, drop }
})

/** The operation: a drawing and the id of its request. */
const Drawable = Schema.Struct({
  driver: Schema.Literal("procedural"),
  id: Schema.String,
  prompt: Schema.String,
  key: Schema.String,
  width: Schema.Int.check(Schema.isBetween({ minimum: 8, maximum: 4096 })),
  height: Schema.Int.check(Schema.isBetween({ minimum: 8, maximum: 4096 })),
  format: Schema.Literals(["png", "jpeg", "webp"]),
  /** Number of references. Absent in operations of versions without references. */
  references: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: referencesMax })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(0))
  )
})
type Drawable = typeof Drawable.Type

const decodeOption = Schema.decodeUnknownOption(Drawable)
const decode = (operation: Generator.Operation): Drawable | undefined => Option.getOrUndefined(decodeOption(operation))

const invalid = (message: string) =>
  new GeneratorError.GeneratorError({
    reason: new GeneratorError.Permanent({ code: "invalid_input", reason: null, message })
  })

const busy = new GeneratorError.GeneratorError({
  reason: new GeneratorError.Transient({ retryAfter: Duration.seconds(1) })
})

const lost = new GeneratorError.GeneratorError({ reason: new GeneratorError.Lost() })

const failure = (message: string) =>
  new GeneratorError.Permanent({ code: "generation_failed", reason: "internal", message })
const foreign = failure("The generation is unknown.")
const cancelled = failure("The generation was cancelled.")
const unfinished = failure("The picture could not be finished.")

const Params = Schema.Struct({
  aspect_ratio: Schema.Literals(PictureSize.aspectRatios).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("1:1" as const))
  ),
  resolution: Schema.Literals(PictureSize.resolutions).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("1k" as const))
  )
})
const decodeParams = Schema.decodeUnknownOption(Params)

/** Returns the drawing of a request, without its references. Without a seed, each id gets a different picture of the same prompt. */
const drawingOf = Effect.fnUntraced(function*(request: GenerationRequest.GenerationRequest, promptMax: number) {
  const { format, id, images, mode, prompt, seed } = request
  if (!modes.includes(mode)) return yield* invalid("This model only generates images, from text or from images.")
  if ((mode === "image_to_image") !== (images.length > 0)) {
    return yield* invalid("Reference images require the mode image_to_image, and this mode requires at least one.")
  }
  if (images.length > referencesMax) {
    return yield* invalid(`This model accepts at most ${referencesMax} reference images.`)
  }
  if (format !== "png" && format !== "jpeg" && format !== "webp") {
    return yield* invalid("This model only generates PNG, JPEG and WebP images.")
  }
  if (prompt.length > promptMax) return yield* invalid("The prompt is too long.")
  const params = decodeParams(request.params)
  if (Option.isNone(params)) return yield* invalid("The aspect ratio or the resolution is not supported.")
  const { height, width } = PictureSize.of(params.value.aspect_ratio, params.value.resolution)
  const key = seed === undefined ? `id ${id}` : `seed ${seed}`
  return { driver: "procedural", id, prompt, key, width, height, format } as const
})

/** Draws a picture. Logs a failure, and does not show its cause to the client. */
const drawn = (
  pool: DrawingPool.DrawingPool,
  { format, height, key, prompt, width }: Drawable,
  references: ReadonlyArray<string>
) =>
  pool.draw({ prompt, key, width, height, format, references }).pipe(
    Effect.tapError((error) => Effect.logError("Drawing a picture failed", error)),
    Effect.mapError(() => unfinished),
    Effect.withSpan("ProceduralGenerator.draw", { attributes: { width, height, format } })
  )

const partSize = 64 * 1024

const partsOf = (bytes: Uint8Array): Iterable<Uint8Array> => ({
  *[Symbol.iterator]() {
    for (let start = 0; start < bytes.length; start += partSize) yield bytes.subarray(start, start + partSize)
  }
})
