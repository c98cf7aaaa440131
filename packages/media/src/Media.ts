/**
 * Reads images that others made, and makes small ones of them.
 *
 * Foreign images are hostile until decoded: what counts is content, every size is
 * bounded before memory is taken, and only a full decode tells that a file is whole.
 * libvips works on threads of its own, so the event loop stays free.
 */
import { Context, Effect, Layer } from "effect"
import sharp from "sharp"
import * as Bounded from "./internal/Bounded.ts"
import * as ImageContent from "./internal/ImageContent.ts"
import {
  Corrupt,
  type ImageMime,
  MediaError,
  Mislabelled,
  TookTooLong,
  TooManyBytes,
  TooManyPixels,
  UnsupportedFormat
} from "./MediaError.ts"

/** Probes and derives images. PNG, JPEG and WebP are read; of an animation, its first frame. */
export class Media extends Context.Service<Media, {
  /**
   * What an image is, by its content. It is decoded to its end, so a truncated file
   * is refused, and a damaged one as far as its format lets one tell. `declared`,
   * when given, must be the type that was found (D18).
   */
  readonly probeImage: (
    bytes: Uint8Array,
    options?: { readonly declared?: string | undefined }
  ) => Effect.Effect<ImageProbe, MediaError>

  /** The image at no more than 1024 px on its long side (D10). A smaller one keeps its size. */
  readonly preview: (bytes: Uint8Array) => Effect.Effect<Derivative, MediaError>

  /** The image at no more than 256 px on its long side (D10). A preview serves as its source just as well. */
  readonly thumb: (bytes: Uint8Array) => Effect.Effect<Derivative, MediaError>
}>()("@kinora/media/Media") {}

/** A readable image. */
export interface ImageProbe {
  readonly mime: ImageMime
  /** In pixels, as shown: after the orientation that the file asks for. */
  readonly width: number
  /** See `width`. */
  readonly height: number
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
  /** The longest file that is read, in bytes. Default 64 MiB. */
  readonly bytesMax?: number | undefined
  /** The most pixels that are decoded. Default 40 megapixels (D18). */
  readonly pixelsMax?: number | undefined
  /** Whole seconds that one decode may take. Default 5. */
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
  const { bytesMax = 64 * 1024 * 1024, concurrency = 2, pixelsMax = 40_000_000, secondsMax = 5 } = options
  yield* Effect.sync(confine)
  const run = yield* Bounded.make(concurrency)
  const limits = { bytesMax, pixelsMax, secondsMax }

  const derive = (sideMax: number, quality: number) => (bytes: Uint8Array) =>
    run(Effect.gen(function*() {
      yield* readHeader(bytes, limits)
      const { data, info: { height, width } } = yield* decode(limits, () =>
        open(bytes, limits)
          .autoOrient()
          .resize(sideMax, sideMax, { fit: "inside", withoutEnlargement: true })
          .webp({ quality, effort: 2 })
          .toBuffer({ resolveWithObject: true }))
      return { mime: "image/webp" as const, bytes: data, width, height }
    }))

  return Media.of({
    probeImage: Effect.fn("Media.probeImage")(function*(bytes, options) {
      return yield* run(Effect.gen(function*() {
        const probe = yield* readHeader(bytes, limits)
        const declared = options?.declared
        if (declared !== undefined && declared !== probe.mime) {
          return yield* new MediaError({ reason: new Mislabelled({ declared, found: probe.mime }) })
        }
        yield* decode(limits, () => readToEnd(bytes, limits))
        return probe
      }))
    }),
    preview: Effect.fn("Media.preview")(derive(previewSideMax, 80)),
    thumb: Effect.fn("Media.thumb")(derive(thumbSideMax, 74))
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

interface Limits {
  readonly bytesMax: number
  readonly pixelsMax: number
  readonly secondsMax: number
}

/** SVG, PDF, RAW and the like are parsers with a reach of their own; only three formats are asked for. */
const confine = () => {
  sharp.block({ operation: ["VipsForeignLoad"] })
  sharp.unblock({
    operation: ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer", "VipsForeignLoadWebpBuffer"]
  })
  sharp.cache(false)
  sharp.concurrency(1)
}

/** Refuses by what costs nothing: length, first bytes, and the sides that the header gives. */
const readHeader = Effect.fnUntraced(function*(bytes: Uint8Array, { bytesMax, pixelsMax }: Limits) {
  if (bytes.length > bytesMax) {
    return yield* new MediaError({ reason: new TooManyBytes({ bytes: bytes.length, bytesMax }) })
  }
  const mime = ImageContent.mimeOf(bytes)
  if (mime === undefined) return yield* new MediaError({ reason: new UnsupportedFormat() })
  if (!ImageContent.hasEnd(bytes, mime)) {
    return yield* new MediaError({ reason: new Corrupt({ cause: "No end marker" }) })
  }
  const { autoOrient: { height, width } } = yield* Effect.tryPromise({
    // Only the header is read, so the limit is checked below, where its refusal can say the sides.
    try: () => sharp(bytes, { limitInputPixels: false }).metadata(),
    catch: (cause) => new MediaError({ reason: new Corrupt({ cause }) })
  })
  if (width * height > pixelsMax) {
    return yield* new MediaError({ reason: new TooManyPixels({ width, height, pixelsMax }) })
  }
  return { mime, width, height }
})

const open = (bytes: Uint8Array, { pixelsMax, secondsMax }: Limits) =>
  sharp(bytes, { limitInputPixels: pixelsMax, failOn: "error" }).timeout({ seconds: secondsMax })

/**
 * Every row is decoded and none is kept: the averaging reads them all, unlike a
 * decoder that shrinks on its own. libvips looks at the time once in a hundred or so
 * rows of its output, so the output has many.
 */
const readToEnd = (bytes: Uint8Array, limits: Limits) =>
  open(bytes, limits).resize(1, 1024, { fit: "fill", fastShrinkOnLoad: false }).raw().toBuffer()

const decode = <A>({ secondsMax }: Limits, work: () => Promise<A>): Effect.Effect<A, MediaError> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new MediaError({
        reason: cause instanceof Error && cause.message.startsWith("timeout:")
          ? new TookTooLong({ secondsMax })
          : new Corrupt({ cause })
      })
  })
