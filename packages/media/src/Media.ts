/**
 * Reads images that others made, and makes new ones of them.
 *
 * Foreign images are hostile until decoded: what counts is content, every size is
 * bounded before memory is taken, and only a full decode tells that a file is whole.
 * libvips works on threads of its own, so the event loop stays free.
 */
import { Context, Effect, Layer } from "effect"
import * as Bounded from "./internal/Bounded.ts"
import * as Decoder from "./internal/Decoder.ts"
import { Animated, GrewTooLong, type ImageMime, MediaError, TooNarrow } from "./MediaError.ts"

/** Normalises and derives images. PNG, JPEG and WebP are read. */
export class Media extends Context.Service<Media, {
  /**
   * The image as it is safe to keep and to hand on (D18): decoded to its end and
   * written anew in its own format, upright, in sRGB, and without metadata or
   * anything else that was in the file. So a truncated file is refused, and a
   * damaged one as far as its format lets one tell. `declared`, when given, must be
   * the type that was found, letter case aside.
   */
  readonly normalise: (
    bytes: Uint8Array,
    options?: { readonly declared?: string | undefined }
  ) => Effect.Effect<NormalImage, MediaError>

  /** The image at no more than 1024 px on its long side (D10). A smaller one keeps its size. Of an animation: its first frame. */
  readonly preview: (bytes: Uint8Array) => Effect.Effect<Derivative, MediaError>

  /** The image at no more than 256 px on its long side (D10). A preview serves as its source just as well. */
  readonly thumb: (bytes: Uint8Array) => Effect.Effect<Derivative, MediaError>
}>()("@kinora/media/Media") {}

/** An image of which only the picture is left. */
export interface NormalImage {
  readonly mime: ImageMime
  /** In pixels, as shown: after the orientation that the file asked for. */
  readonly width: number
  /** See `width`. */
  readonly height: number
  readonly bytes: Uint8Array
}

/** An image made of another: upright, sRGB, and without any of its metadata. */
export interface Derivative {
  readonly mime: "image/webp"
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/** Limits of a `Media`. */
export interface MediaOptions {
  /** The longest file that is read, and that normalising makes, in bytes. Default 64 MiB. */
  readonly bytesMax?: number | undefined
  /** The longest file that is normalised, in bytes. Default 10 MiB (D18). */
  readonly inputBytesMax?: number | undefined
  /** The most pixels that are decoded. Default 40 megapixels (D18). */
  readonly pixelsMax?: number | undefined
  /** How many times as long as its short side the long side of an image may be that is normalised. Default 8. */
  readonly aspectMax?: number | undefined
  /** Whole seconds that one image may take. Default 10. */
  readonly secondsMax?: number | undefined
  /**
   * Images in work at the same time. Default 2. Each holds a thread of the pool
   * that Node also reads files with (`UV_THREADPOOL_SIZE`), and at worst about
   * 8 bytes of memory per pixel.
   */
  readonly concurrency?: number | undefined
}

/** Longest side of a preview, in pixels. */
export const previewSideMax = 1024

/** Longest side of a thumb, in pixels. */
export const thumbSideMax = 256

/**
 * A `Media` with these limits. Building it changes libvips for the whole process:
 * loaders other than those of PNG, JPEG and WebP in memory are blocked, its cache is
 * off, and each image takes one thread. The layer's end waits for images in work.
 */
export const layer = (options: MediaOptions = {}): Layer.Layer<Media> => Layer.effect(Media, make(options))

/** See `layer`. */
export const make = Effect.fnUntraced(function*(options: MediaOptions) {
  const { aspectMax = 8, bytesMax = 64 * MiB, concurrency = 2, inputBytesMax = 10 * MiB } = options
  const { pixelsMax = 40_000_000, secondsMax = 10 } = options
  yield* Effect.sync(Decoder.confine)
  const run = yield* Bounded.make(concurrency)
  const limits = { bytesMax, pixelsMax, secondsMax }
  const inputLimits = { ...limits, bytesMax: Math.min(bytesMax, inputBytesMax) }

  const derive = (sideMax: number, quality: number) => (bytes: Uint8Array) =>
    run(Effect.gen(function*() {
      yield* Decoder.readHeader(bytes, limits)
      const { data, info: { height, width } } = yield* Decoder.decode(bytes, limits, (image) =>
        image
          .autoOrient()
          .resize(sideMax, sideMax, { fit: "inside", withoutEnlargement: true })
          .webp({ quality, effort: 2 }))
      return { mime: "image/webp" as const, bytes: data, width, height }
    }))

  return Media.of({
    normalise: Effect.fn("Media.normalise")(function*(bytes, options) {
      return yield* run(Effect.gen(function*() {
        const { frames, height, mime, width } = yield* Decoder.readHeader(bytes, inputLimits, options?.declared)
        if (Math.max(width, height) > aspectMax * Math.min(width, height)) {
          return yield* new MediaError({ reason: new TooNarrow({ width, height, aspectMax }) })
        }
        if (frames > 1) return yield* new MediaError({ reason: new Animated({ frames }) })
        // Nothing of the file's metadata is written unless it is asked for, and what is written is sRGB.
        const { data, info } = yield* Decoder.decode(
          bytes,
          limits,
          (image) => Decoder.encodeAs[mime](image.autoOrient())
        )
        // What filters of PNG make small can be hundreds of times as long without them, and somebody keeps it.
        if (data.length > bytesMax) {
          return yield* new MediaError({ reason: new GrewTooLong({ bytes: data.length, bytesMax }) })
        }
        return { mime, width: info.width, height: info.height, bytes: data }
      }))
    }),
    preview: Effect.fn("Media.preview")(derive(previewSideMax, 80)),
    thumb: Effect.fn("Media.thumb")(derive(thumbSideMax, 74))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const MiB = 1024 * 1024
