/** Turns requests into drawings, and operations back into drawings. */
import { type GenerationRequest, type Generator, GeneratorError } from "@kinora/generator"
import { Effect, Option, Schema } from "effect"
import * as ClipSize from "../ClipSize.ts"
import * as PictureSize from "../PictureSize.ts"
import { referencesMax } from "./painting/layout.ts"

/** Supported modes. */
export const modes: ReadonlyArray<GenerationRequest.Mode> = [
  "text_to_image",
  "image_to_image",
  "text_to_video",
  "image_to_video"
]

const side = Schema.Int.check(Schema.isBetween({ minimum: 8, maximum: 4096 }))
const seconds = Schema.Int.check(Schema.isBetween({ minimum: ClipSize.secondsMin, maximum: ClipSize.secondsMax }))

/** The operation: a drawing and the id of its request. */
export const Drawable = Schema.Struct({
  driver: Schema.Literal("procedural"),
  id: Schema.String,
  prompt: Schema.String,
  key: Schema.String,
  width: side,
  height: side,
  format: Schema.Literals(["png", "jpeg", "webp", "mp4"]),
  /** Duration of a video. Absent in operations of versions without videos. */
  seconds: Schema.NullOr(seconds).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  /** Number of references. Absent in operations of versions without references. */
  references: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: referencesMax })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(0))
  )
})
/** Type of `Drawable`. */
export type Drawable = typeof Drawable.Type

const decodeOption = Schema.decodeUnknownOption(Drawable)

/** Returns the drawing of an operation, or `undefined` for an operation of another driver. */
export const decode = (operation: Generator.Operation): Drawable | undefined =>
  Option.getOrUndefined(decodeOption(operation))

/**
 * Returns the operation of a request. Fails with `invalid_input` if the request is not
 * supported. Without a seed, each id gets a different variant of the same prompt.
 */
export const drawableOf = Effect.fnUntraced(
  function*(request: GenerationRequest.GenerationRequest, promptMax: number) {
    const { id, images, kind, mode, prompt, seed } = request
    if (!modes.includes(mode) || !mode.endsWith(kind)) return yield* invalid("This model does not support this mode.")
    if (mode.startsWith("image") !== images.length > 0) {
      return yield* invalid("Reference images require a mode that starts with image_to, which requires at least one.")
    }
    const imagesMax = kind === "video" ? 1 : referencesMax
    if (images.length > imagesMax) return yield* invalid(`This model accepts at most ${imagesMax} reference images.`)
    if (prompt.length > promptMax) return yield* invalid("The prompt is too long.")
    const key = seed === undefined ? `id ${id}` : `seed ${seed}`
    const shape = yield* kind === "video" ? clipShape(request) : pictureShape(request)
    const drawable: Drawable = { driver: "procedural", id, prompt, key, ...shape, references: images.length }
    return drawable
  }
)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const invalid = (message: string) =>
  new GeneratorError.GeneratorError({
    reason: new GeneratorError.Permanent({ code: "invalid_input", reason: null, message })
  })

const decodePicture = Schema.decodeUnknownOption(Schema.Struct({
  aspect_ratio: Schema.Literals(PictureSize.aspectRatios).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("1:1" as const))
  ),
  resolution: Schema.Literals(PictureSize.resolutions).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("1k" as const))
  )
}))

const decodeClip = Schema.decodeUnknownOption(Schema.Struct({
  aspect_ratio: Schema.Literals(ClipSize.aspectRatios).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("16:9" as const))
  ),
  resolution: Schema.Literals(ClipSize.resolutions).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("720p" as const))
  ),
  duration: seconds.pipe(Schema.withDecodingDefaultKey(Effect.succeed(4)))
}))

const pictureShape = Effect.fnUntraced(function*({ format, params }: GenerationRequest.GenerationRequest) {
  if (format !== "png" && format !== "jpeg" && format !== "webp") {
    return yield* invalid("This model generates images as PNG, JPEG and WebP.")
  }
  const decoded = decodePicture(params)
  if (Option.isNone(decoded)) return yield* invalid("The aspect ratio or the resolution is not supported.")
  const { aspect_ratio, resolution } = decoded.value
  return { ...PictureSize.of(aspect_ratio, resolution), format, seconds: null }
})

const clipShape = Effect.fnUntraced(function*({ format, params }: GenerationRequest.GenerationRequest) {
  if (format !== "mp4") return yield* invalid("This model generates videos as MP4.")
  const decoded = decodeClip(params)
  if (Option.isNone(decoded)) {
    return yield* invalid(
      `The aspect ratio, the resolution or the duration is not supported. The duration is ${ClipSize.secondsMin} to ` +
        `${ClipSize.secondsMax} whole seconds.`
    )
  }
  const { aspect_ratio, duration, resolution } = decoded.value
  return { ...ClipSize.of(aspect_ratio, resolution), format, seconds: duration }
})
