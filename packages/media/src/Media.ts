/**
 * Decodes untrusted images and derives smaller ones. Probes and marks images and videos.
 *
 * The type of an image is determined by its content, its size is checked before memory is
 * allocated, and it is decoded completely, which is the only way to detect truncation.
 * libvips runs on its own threads, so the event loop is not blocked, and large inputs are
 * decoded in other processes.
 */
import { Context, Effect, Layer, type Option, type Scope } from "effect"
import * as Bounded from "./internal/Bounded.ts"
import * as Decoder from "./internal/decoder/Decoder.ts"
import type { Made } from "./internal/decoder/work.ts"
import { confine } from "./internal/decoder/work.ts"
import * as FirstFrame from "./internal/firstFrame.ts"
import * as Inputs from "./internal/inputs.ts"
import * as Probe from "./internal/probe/probe.ts"
import * as ThreadPriority from "./internal/threadPriority.ts"
import * as MarkImage from "./internal/watermark/markImage.ts"
import * as MarkVideo from "./internal/watermark/markVideo.ts"
import { Animated, Corrupt, type ImageMime, MediaError, TooNarrow } from "./MediaError.ts"
import type {
  Facts,
  FrameOptions,
  MarkedVideo,
  MediaFile,
  ProbeLimits,
  VideoFacts,
  WatermarkOptions
} from "./MediaFile.ts"
import type { ProbeError } from "./ProbeError.ts"
import * as Turns from "./Turns.ts"
import type { WatermarkError } from "./WatermarkError.ts"

/** Normalises PNG, JPEG and WebP images, derives previews from them, probes and marks images and videos. */
export class Media extends Context.Service<Media, {
  /**
   * Returns the type and the size of an image from its header. Rejects what `normalise`
   * rejects before it decodes. Decodes nothing.
   */
  readonly inspect: (
    bytes: Uint8Array,
    options?: { readonly declared?: string | undefined }
  ) => Effect.Effect<Omit<NormalImage, "bytes">, MediaError>

  /**
   * Decodes an image completely and re-encodes it in its own format: upright, in sRGB, and
   * without metadata or other content of the file. Rejects a truncated file, and a damaged
   * one if its format allows to detect it. If `declared` is given, it must be the detected
   * type, in any letter case.
   *
   * Runs in the pool of inputs, whose places owners take in turn. Inputs of more than 16 megapixels
   * are decoded in other processes, one after the other by default.
   */
  readonly normalise: (bytes: Uint8Array, options?: NormaliseOptions) => Effect.Effect<NormalImage, MediaError>

  /**
   * Returns the image with at most 1024 px on its long side. A smaller image keeps its size.
   * Uses the first frame of an animation. With `owner`, it runs in the pool of inputs, like
   * `normalise`.
   */
  readonly preview: (
    bytes: Uint8Array,
    options?: { readonly owner?: string | undefined }
  ) => Effect.Effect<Derivative, MediaError>

  /** Returns the image with at most 256 px on its long side. A preview is a valid source. */
  readonly thumb: (bytes: Uint8Array) => Effect.Effect<Derivative, MediaError>

  /**
   * Returns the facts of a PNG, JPEG, WebP, MP4 or WebM. Rejects a truncated file and a file
   * above `ProbeLimits`. If `declared` is given, it must be the detected type, in any letter case.
   *
   * Reads small parts of the file, and decodes nothing: `preview` detects damage inside
   * an image. Truncation inside a PNG, JPEG or WebP is detected by its end, inside an MP4
   * or WebM by the sizes of its parts.
   */
  readonly probe: <E>(file: MediaFile<E>, declared?: string) => Effect.Effect<Facts, ProbeError | E>

  /**
   * Returns the first frame of a video that `probe` accepted, as a PNG with at most
   * 1024 px on its long side. Returns `None` if the program `ffmpeg` is not installed or
   * fails, and if the video exceeds `FrameOptions`. The program runs in a process of its
   * own, which interruption kills. One video is in work at a time.
   */
  readonly firstFrame: <E>(
    file: MediaFile<E>,
    facts: VideoFacts
  ) => Effect.Effect<Option.Option<Uint8Array>, E>

  /**
   * Returns the image with the mark of the product all over it, in its own format: upright, in
   * sRGB, and with its EXIF and XMP, but without other metadata. Rejects an animation.
   */
  readonly watermark: (bytes: Uint8Array) => Effect.Effect<NormalImage, MediaError>

  /** Whether `watermarkVideo` can be used: the program `ffmpeg` is installed. */
  readonly canWatermarkVideos: Effect.Effect<boolean>

  /**
   * Returns a video that `probe` accepted with the mark of the product all over each frame, in
   * its own container. Frames are re-encoded, as H.264 in MP4 and VP9 in WebM; sound and
   * metadata are copied. Runs the program `ffmpeg` like `firstFrame`, one video at a time.
   */
  readonly watermarkVideo: <E>(
    file: MediaFile<E>,
    facts: VideoFacts
  ) => Effect.Effect<MarkedVideo, WatermarkError | E, Scope.Scope>
}>()("@kinora/media/Media") {}

/** Options for `normalise`. */
export interface NormaliseOptions {
  /** The media type that the sender declared. */
  readonly declared?: string | undefined
  /** Identifies the sender, who has at most half of the places of inputs. */
  readonly owner?: string | undefined
  /** Maximum size of the result in bytes. Default, and at most: `MediaOptions.bytesMax`. */
  readonly resultBytesMax?: number | undefined
}

/** A re-encoded image. */
export interface NormalImage {
  readonly mime: ImageMime
  /** Pixels, after the orientation of the file is applied. */
  readonly width: number
  /** Pixels, after the orientation of the file is applied. */
  readonly height: number
  readonly bytes: Uint8Array
}

/** A smaller image: upright, in sRGB, without metadata. */
export interface Derivative {
  readonly mime: "image/webp"
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/** Options for `layer`. */
export interface MediaOptions {
  /** Maximum size of a file that is read, and of the result of `normalise`, in bytes. Default 64 MiB. */
  readonly bytesMax?: number | undefined
  /** Maximum size of the input of `normalise`, in bytes. Default 10 MiB. */
  readonly inputBytesMax?: number | undefined
  /** Maximum number of pixels of an image. Default 40 megapixels. */
  readonly pixelsMax?: number | undefined
  /** Maximum ratio of the long to the short side of the input of `normalise`. Default 8. */
  readonly aspectMax?: number | undefined
  /** Maximum time for one image, in whole seconds. Default 20. */
  readonly secondsMax?: number | undefined
  /**
   * Maximum number of images other than inputs in work at the same time. Default 2. Each
   * occupies a thread of the pool that Node also uses for files (`UV_THREADPOOL_SIZE`), and
   * up to about 13 bytes of memory per pixel.
   */
  readonly concurrency?: number | undefined
  /**
   * Maximum number of inputs in work at the same time, in addition to `concurrency` and at the
   * same cost each. An owner has at most half of the places, and inputs of more than 16
   * megapixels have half of them in all, so that smaller ones do not wait for them. Default 2.
   */
  readonly inputConcurrency?: number | undefined
  /**
   * Path of Node, which decodes large inputs in other processes. Default: `process.execPath`. Set it in a program that is an
   * executable of its own.
   */
  readonly nodePath?: string | undefined
  /** Limits of `probe`. */
  readonly probe?: ProbeLimits | undefined
  /** Options for `firstFrame`. */
  readonly frame?: FrameOptions | undefined
  /** Options for `watermarkVideo`. */
  readonly watermark?: WatermarkOptions | undefined
}

/** Longest side of a preview, in pixels. */
export const previewSideMax = 1024

/** Longest side of a thumb, in pixels. */
export const thumbSideMax = 256

/**
 * Provides a `Media`. Building it configures libvips for the whole process: it blocks all
 * loaders except those of PNG, JPEG and WebP in memory, disables the cache, and uses one
 * thread per image. On Linux, it lowers the priority of the thread pool of Node, on which
 * libvips works, below that of the event loop. Closing the layer waits for images in work.
 */
export const layer = (options: MediaOptions = {}): Layer.Layer<Media> => Layer.effect(Media, make(options))

/** Creates a `Media`, like `layer`. */
export const make = Effect.fnUntraced(function*(options: MediaOptions) {
  const { aspectMax = 8, bytesMax = 64 * MiB, concurrency = 2, frame = {}, inputBytesMax = 10 * MiB } = options
  const { inputConcurrency = 2, pixelsMax = 40_000_000, probe = {}, secondsMax = 20, watermark = {} } = options
  const { nodePath = process.execPath } = options
  yield* Effect.sync(confine)
  yield* ThreadPriority.lower
  const firstFrame = yield* FirstFrame.make(frame, previewSideMax)
  const { directory, program } = frame
  const tilesOf = MarkImage.makeTilesOf()
  const { isInstalled, markVideo } = yield* MarkVideo.make({ directory, program, ...watermark }, tilesOf)
  const run = yield* Bounded.make(Turns.make({ max: concurrency, ownMax: concurrency }))
  const decodeInput = yield* Inputs.make({ inputConcurrency, nodePath })
  const limits = { bytesMax, pixelsMax, secondsMax }
  const inputLimits = { ...limits, bytesMax: Math.min(bytesMax, inputBytesMax) }

  const inspect = makeInspect(inputLimits, aspectMax)

  const derive = (bytes: Uint8Array, work: typeof preview | typeof thumb) =>
    Effect.andThen(Decoder.readHeader(bytes, limits), Decoder.decode(bytes, limits, work)).pipe(
      run,
      Effect.map(derivative)
    )

  const mark = (bytes: Uint8Array) =>
    run(Effect.gen(function*() {
      const { frames, height, mime, width } = yield* Decoder.readHeader(bytes, limits)
      if (frames > 1) return yield* new MediaError({ reason: new Animated({ frames }) })
      const tiles = yield* Effect.tryPromise({
        try: () => tilesOf(width, height),
        catch: (cause) => new MediaError({ reason: new Corrupt({ cause }) })
      })
      const made = yield* Decoder.edit(bytes, mime, limits, (image) => MarkImage.withTiles(image, tiles))
      return normalImage(mime, made)
    }))

  return Media.of({
    inspect: Effect.fn("Media.inspect")((bytes, options) => inspect(bytes, options?.declared)),
    normalise: Effect.fn("Media.normalise")(function*(bytes, options = {}) {
      const { declared, owner, resultBytesMax = bytesMax } = options
      const header = yield* inspect(bytes, declared)
      const resultLimits = { ...limits, bytesMax: Math.min(resultBytesMax, bytesMax) }
      const made = yield* decodeInput(header, owner, bytes, resultLimits, { kind: "copy", mime: header.mime })
      return normalImage(header.mime, made)
    }),
    preview: Effect.fn("Media.preview")(function*(bytes, options) {
      if (options?.owner === undefined) return yield* derive(bytes, preview)
      const header = yield* Decoder.readHeader(bytes, limits)
      return derivative(yield* decodeInput(header, options.owner, bytes, limits, preview))
    }),
    thumb: Effect.fn("Media.thumb")((bytes) => derive(bytes, thumb)),
    probe: Effect.fn("Media.probe")(Probe.make(probe)),
    firstFrame: Effect.fn("Media.firstFrame")(firstFrame),
    watermark: Effect.fn("Media.watermark")(mark),
    canWatermarkVideos: isInstalled,
    watermarkVideo: Effect.fn("Media.watermarkVideo")(markVideo)
  })
})

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const MiB = 1024 * 1024

const preview = { kind: "smaller", sideMax: previewSideMax, quality: 80 } as const

const thumb = { kind: "smaller", sideMax: thumbSideMax, quality: 74 } as const

const normalImage = (mime: ImageMime, { data, info: { height, width } }: Made): NormalImage => ({
  mime,
  width,
  height,
  bytes: data
})

const derivative = ({ data, info: { height, width } }: Made): Derivative => ({
  mime: "image/webp",
  bytes: data,
  width,
  height
})

/** Makes a function that checks everything of an image that its header shows. */
const makeInspect = (limits: Decoder.Limits, aspectMax: number) =>
  Effect.fnUntraced(function*(bytes: Uint8Array, declared: string | undefined) {
    const { frames, ...image } = yield* Decoder.readHeader(bytes, limits, declared)
    const { height, width } = image
    if (Math.max(width, height) > aspectMax * Math.min(width, height)) {
      return yield* new MediaError({ reason: new TooNarrow({ width, height, aspectMax }) })
    }
    if (frames > 1) return yield* new MediaError({ reason: new Animated({ frames }) })
    return image
  })
