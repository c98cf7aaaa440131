/**
 * A generator that paints pictures by rule, without a model: offline, for free and
 * always the same for the same request. From text it paints one of its scenes; after
 * reference images it paints what they show, in the colours that the prompt calls for.
 *
 * The operation holds all that is needed to draw, but for references: whoever polls
 * one that this process does not know draws it again, and gets the same picture.
 * After references it is `Lost`, and has to be submitted again together with them.
 *
 * The same build draws the same bytes. Another version of this package, of Skia or
 * of libvips may draw a slightly different picture.
 */
import { type GenerationRequest, Generator, GeneratorError } from "@kinora/generator"
import { Deferred, Duration, Effect, Exit, FiberMap, Layer, Option, Schema, Stream } from "effect"
import * as DrawingPool from "./internal/DrawingPool.ts"
import { referencesMax } from "./internal/painting/layout.ts"
import * as References from "./internal/References.ts"
import * as PictureSize from "./PictureSize.ts"

/** How the generator works. */
export interface ProceduralGeneratorOptions {
  /** Pictures in work at the same time. Default: one fewer than there are cores, at least 1. */
  readonly threads?: number | undefined
  /** Pictures in work or waiting for a thread; beyond that callers are asked to come again. Default 64. */
  readonly queueMax?: number | undefined
  /** Finished pictures that are kept until they are collected; the oldest is dropped and drawn again when asked for. Default 16. */
  readonly finishedMax?: number | undefined
  /** How long `poll` waits for the picture. Default 1 second. */
  readonly pollTimeout?: Duration.Input | undefined
  /** Longest prompt, in UTF-16 code units. Default 20 000. */
  readonly promptMax?: number | undefined
  /** Longest reference image, in bytes. Default 64 MiB. */
  readonly referenceBytesMax?: number | undefined
}

/** What it can do. */
export const modes: ReadonlyArray<GenerationRequest.Mode> = ["text_to_image", "image_to_image"]

/** Most reference images of one request. */
export { referencesMax }

/** The generator, with threads of its own. */
export const layer = (options: ProceduralGeneratorOptions = {}): Layer.Layer<Generator.Generator> =>
  Layer.effect(
    Generator.Generator,
    Effect.flatMap(DrawingPool.make({ threads: options.threads }), (pool) => make(pool, options))
  )

/** The generator on threads that somebody else keeps. */
export const make = Effect.fnUntraced(function*(
  pool: DrawingPool.DrawingPool,
  options: ProceduralGeneratorOptions = {}
) {
  const { finishedMax = 16, promptMax = 20_000, queueMax = 64, referenceBytesMax = 64 * 1024 * 1024 } = options
  const shrink = References.make({ bytesMax: referenceBytesMax })
  const pollTimeout = Duration.fromInputUnsafe(options.pollTimeout ?? "1 second")
  const fibers = yield* FiberMap.make<string>()
  const known = new Map<string, Picture>()

  /** Forgets finished pictures that nobody came for, the oldest first. */
  const makeRoom = () => {
    const finished = [...known].filter(([, picture]) => Deferred.isDoneUnsafe(picture))
    for (const [id] of finished.slice(0, Math.max(0, finished.length - finishedMax))) known.delete(id)
  }

  const refuseWhenFull = (id: string) =>
    Effect.flatMap(
      FiberMap.size(fibers),
      (size) => size >= queueMax && !known.has(id) ? Effect.fail(busy) : Effect.void
    )

  /** The picture of an operation, which is drawn from now on if it was not before. */
  const begin = Effect.fnUntraced(function*(operation: Drawable, references: ReadonlyArray<string>) {
    const found = known.get(operation.id)
    if (found !== undefined) return found
    if (references.length < operation.references) return yield* lost
    yield* refuseWhenFull(operation.id)
    const picture: Picture = Deferred.makeUnsafe()
    known.set(operation.id, picture)
    makeRoom()
    yield* FiberMap.run(fibers, operation.id, Deferred.into(drawn(pool, operation, references), picture))
    return picture
  }, Effect.uninterruptible)

  const forget = (id: string, picture: Picture) =>
    Effect.sync(() => {
      if (known.get(id) === picture) known.delete(id)
    })

  return Generator.Generator.of({
    resubmit: "safe",

    submit: Effect.fn("ProceduralGenerator.submit")(function*(request) {
      const drawing = yield* drawingOf(request, promptMax)
      // Before the images are read, which is most of the work of a submission.
      yield* refuseWhenFull(request.id)
      const references = yield* shrink(request.images, drawing.width, drawing.height)
      const operation = { ...drawing, references: references.length } satisfies Drawable
      yield* begin(operation, references)
      return operation
    }),

    poll: Effect.fn("ProceduralGenerator.poll")(function*(operation) {
      const drawable = decode(operation)
      if (drawable === undefined) return Generator.failed(foreign)
      const picture = yield* begin(drawable, [])
      const exit = yield* Effect.timeoutOption(Effect.exit(Deferred.await(picture)), pollTimeout)
      if (Option.isNone(exit)) return Generator.pending(Duration.zero)
      if (Exit.isSuccess(exit.value)) return Generator.succeeded
      const error = Exit.findErrorOption(exit.value)
      return Generator.failed(Option.getOrElse(error, () => unfinished))
    }),

    cancel: Effect.fn("ProceduralGenerator.cancel")(function*(operation) {
      const drawable = decode(operation)
      if (drawable === undefined) return
      const picture = known.get(drawable.id)
      if (picture === undefined) return
      yield* Deferred.fail(picture, cancelled)
      yield* forget(drawable.id, picture)
      yield* FiberMap.remove(fibers, drawable.id)
    }),

    collect: Effect.fn("ProceduralGenerator.collect")(function*(operation) {
      const drawable = decode(operation)
      if (drawable === undefined) return yield* new GeneratorError.GeneratorError({ reason: foreign })
      const picture = yield* begin(drawable, [])
      const bytes = yield* Effect.mapError(
        Deferred.await(picture),
        (reason) => new GeneratorError.GeneratorError({ reason })
      )
      // Once it was read the picture is where it belongs, or is drawn again.
      yield* Effect.addFinalizer(() => forget(drawable.id, picture))
      const { format, height, width } = drawable
      return { mime: `image/${format}`, width, height, body: Stream.fromIterable(partsOf(bytes), { chunkSize: 1 }) }
    })
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A picture that is being drawn or is finished. */
type Picture = Deferred.Deferred<Uint8Array, GeneratorError.Permanent>

/** The operation: a drawing and the request that it belongs to. */
const Drawable = Schema.Struct({
  driver: Schema.Literal("procedural"),
  id: Schema.String,
  prompt: Schema.String,
  key: Schema.String,
  width: Schema.Int.check(Schema.isBetween({ minimum: 8, maximum: 4096 })),
  height: Schema.Int.check(Schema.isBetween({ minimum: 8, maximum: 4096 })),
  format: Schema.Literals(["png", "jpeg", "webp"]),
  /** How many there are. Absent in the operations of a version that took none. */
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
const foreign = failure("The generation is not known.")
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

/** What to draw for a request, but for its references. Without a seed, another id gives another picture of the same prompt. */
const drawingOf = Effect.fnUntraced(function*(request: GenerationRequest.GenerationRequest, promptMax: number) {
  const { format, id, images, mode, prompt, seed } = request
  if (!modes.includes(mode)) return yield* invalid("This model makes images only, from text or from images.")
  if ((mode === "image_to_image") !== (images.length > 0)) {
    return yield* invalid("Reference images belong to the mode image_to_image, which needs at least one.")
  }
  if (images.length > referencesMax) {
    return yield* invalid(`This model takes at most ${referencesMax} reference images.`)
  }
  if (format !== "png" && format !== "jpeg" && format !== "webp") {
    return yield* invalid("This model makes PNG, JPEG and WebP images only.")
  }
  if (prompt.length > promptMax) return yield* invalid("The prompt is too long.")
  const params = decodeParams(request.params)
  if (Option.isNone(params)) return yield* invalid("The aspect ratio or the resolution is not supported.")
  const { height, width } = PictureSize.of(params.value.aspect_ratio, params.value.resolution)
  const key = seed === undefined ? `id ${id}` : `seed ${seed}`
  return { driver: "procedural", id, prompt, key, width, height, format } as const
})

/** Draws, and tells what went wrong to the log and not to the client. */
const drawn = (
  pool: DrawingPool.DrawingPool,
  { format, height, key, prompt, width }: Drawable,
  references: ReadonlyArray<string>
) =>
  pool.draw({ prompt, key, width, height, format, references }).pipe(
    Effect.tapError((error) => Effect.logError("A picture could not be drawn", error)),
    Effect.mapError(() => unfinished),
    Effect.withSpan("ProceduralGenerator.draw", { attributes: { width, height, format } })
  )

const partSize = 64 * 1024

const partsOf = (bytes: Uint8Array): Iterable<Uint8Array> => ({
  *[Symbol.iterator]() {
    for (let start = 0; start < bytes.length; start += partSize) yield bytes.subarray(start, start + partSize)
  }
})
