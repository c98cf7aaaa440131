/**
 * Decodes untrusted images and derives smaller ones. Probes and marks images and videos.
 *
 * The type of an image is determined by its content, its size is checked before memory is
 * allocated, and it is decoded completely, which is the only way to detect truncation.
 * libvips runs on its own threads, so the event loop is not blocked.
 */
import { Context, Effect, Layer, type Option, type Scope } from "effect"
import type { Sharp } from "sharp"
import * as Bounded from "./internal/Bounded.ts"
import * as Decoder from "./internal/Decoder.ts"
import * as FirstFrame from "./internal/firstFrame.ts"
import * as Probe from "./internal/probe/probe.ts"
import * as ThreadPriority from "./internal/threadPriority.ts"
import * as MarkImage from "./internal/watermark/markImage.ts"
import * as MarkVideo from "./internal/watermark/markVideo.ts"
import { Animated, Corrupt, GrewTooLong, type ImageMime, MediaError, TooNarrow } from "./MediaError.ts"
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
   * Runs in the pool of inputs, whose places owners take in turn.
   */
  readonly normalise: (
    bytes: Uint8Array,
    options?: { readonly declared?: string | undefined; readonly owner?: string | undefined }
  ) => Effect.Effect<NormalImage, MediaError>

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
  yield* Effect.sync(Decoder.confine)
  yield* ThreadPriority.lower
  const firstFrame = yield* FirstFrame.make(frame, previewSideMax)
  const { directory, program } = frame
  const tilesOf = MarkImage.makeTilesOf()
  const { isInstalled, markVideo } = yield* MarkVideo.make({ directory, program, ...watermark }, tilesOf)
  const run = yield* Bounded.make(Turns.make({ max: concurrency, ownMax: concurrency }))
  const inputTurns = Turns.make({ max: inputConcurrency })
  const runInput = yield* Bounded.make(inputTurns)
  // A large image waits for its turn here, without a place among all inputs: the other places remain for smaller ones.
  const largeTurns = Turns.make({ max: Math.ceil(inputConcurrency / 2) })
  const runLargeInput = yield* Bounded.make((owner) => (work) => largeTurns(owner)(inputTurns(owner)(work)))
  const runInputOf = ({ height, width }: Size) => width * height > largePixels ? runLargeInput : runInput
  const limits = { bytesMax, pixelsMax, secondsMax }
  const inputLimits = { ...limits, bytesMax: Math.min(bytesMax, inputBytesMax) }

  const makePreview = makeDerive(limits, previewSideMax, 80)
  const makeThumb = makeDerive(limits, thumbSideMax, 74)
  const inspect = makeInspect(inputLimits, aspectMax)

  /** Decodes an image completely, applies `edit`, and encodes it in its own format. */
  const reencode = Effect.fnUntraced(function*(bytes: Uint8Array, mime: ImageMime, edit: (image: Sharp) => Sharp) {
    const { data, info } = yield* Decoder.decode(bytes, limits, (image) => Decoder.encodeAs[mime](edit(image)))
    // A PNG can be hundreds of times larger when it is encoded with other filters.
    if (data.length > bytesMax) {
      return yield* new MediaError({ reason: new GrewTooLong({ bytes: data.length, bytesMax }) })
    }
    return { mime, width: info.width, height: info.height, bytes: data }
  })

  const mark = (bytes: Uint8Array) =>
    run(Effect.gen(function*() {
      const { frames, height, mime, width } = yield* Decoder.readHeader(bytes, limits)
      if (frames > 1) return yield* new MediaError({ reason: new Animated({ frames }) })
      const tiles = yield* Effect.tryPromise({
        try: () => tilesOf(width, height),
        catch: (cause) => new MediaError({ reason: new Corrupt({ cause }) })
      })
      return yield* reencode(bytes, mime, (image) => MarkImage.withTiles(image, tiles))
    }))

  return Media.of({
    inspect: Effect.fn("Media.inspect")((bytes, options) => inspect(bytes, options?.declared)),
    normalise: Effect.fn("Media.normalise")((bytes, options) =>
      Effect.flatMap(inspect(bytes, options?.declared), (header) =>
        // libvips writes no metadata unless asked to, and converts to sRGB.
        runInputOf(header)(reencode(bytes, header.mime, (image) => image.autoOrient()), options?.owner))
    ),
    preview: Effect.fn("Media.preview")((bytes, options) =>
      options?.owner === undefined
        ? run(makePreview(bytes))
        : Effect.flatMap(Decoder.readHeader(bytes, limits), (header) =>
          runInputOf(header)(makePreview(bytes), options.owner))
    ),
    thumb: Effect.fn("Media.thumb")((bytes) => run(makeThumb(bytes))),
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

/** Number of pixels above which an input is large: more than those of most photos. */
const largePixels = 16_000_000

/** Size of an image, in pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

/** Makes a function that returns a smaller copy of an image. */
const makeDerive = (limits: Decoder.Limits, sideMax: number, quality: number) =>
  Effect.fnUntraced(function*(bytes: Uint8Array) {
    yield* Decoder.readHeader(bytes, limits)
    const { data, info: { height, width } } = yield* Decoder.decode(bytes, limits, (image) =>
      image
        .autoOrient()
        .resize(sideMax, sideMax, { fit: "inside", withoutEnlargement: true })
        .webp({ quality, effort: 2 }))
    return { mime: "image/webp" as const, bytes: data, width, height }
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
