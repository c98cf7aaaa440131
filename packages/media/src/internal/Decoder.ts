/** Decodes images with libvips, with limits on formats, bytes, pixels and time. */
import { Effect } from "effect"
import sharp, { type OutputInfo, type Sharp } from "sharp"
import {
  Corrupt,
  type ImageMime,
  MediaError,
  Mislabelled,
  TookTooLong,
  TooManyBytes,
  TooManyPixels,
  UnsupportedFormat
} from "../MediaError.ts"
import * as ImageContent from "./ImageContent.ts"

/** Limits of one decode. See `MediaOptions`. */
export interface Limits {
  readonly bytesMax: number
  readonly pixelsMax: number
  readonly secondsMax: number
}

/** Blocks all loaders but three. The parsers of SVG, PDF, RAW and others are a large attack surface. */
export const confine = (): void => {
  sharp.block({ operation: ["VipsForeignLoad"] })
  sharp.unblock({
    operation: ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer", "VipsForeignLoadWebpBuffer"]
  })
  sharp.cache(false)
  sharp.concurrency(1)
}

/** Reads the header, and rejects the image by length, type and dimensions before it is decoded. */
export const readHeader = Effect.fnUntraced(
  function*(bytes: Uint8Array, { bytesMax, pixelsMax }: Limits, declared?: string) {
    if (bytes.length > bytesMax) {
      return yield* new MediaError({ reason: new TooManyBytes({ bytes: bytes.length, bytesMax }) })
    }
    const mime = ImageContent.mimeOf(bytes)
    if (mime === undefined) return yield* new MediaError({ reason: new UnsupportedFormat() })
    if (declared !== undefined && declared.toLowerCase() !== mime) {
      return yield* new MediaError({ reason: new Mislabelled({ declared, found: mime }) })
    }
    if (!ImageContent.hasEnd(bytes, mime)) {
      return yield* new MediaError({ reason: new Corrupt({ cause: "No end marker" }) })
    }
    const { autoOrient: { height, width }, pages = 1 } = yield* Effect.tryPromise({
      // Reads only the header. The limit is checked below, where the error can contain the dimensions.
      try: () => sharp(bytes, { limitInputPixels: false }).metadata(),
      catch: (cause) => new MediaError({ reason: new Corrupt({ cause }) })
    })
    if (width * height > pixelsMax) {
      return yield* new MediaError({ reason: new TooManyPixels({ width, height, pixelsMax }) })
    }
    const header: Header = { mime, width, height, frames: pages }
    return header
  }
)

/** Decodes the first frame of a file completely, applies `edit`, and encodes the result. */
export const decode = (
  bytes: Uint8Array,
  { pixelsMax, secondsMax }: Limits,
  edit: (image: Sharp) => Sharp
): Effect.Effect<{ readonly data: Uint8Array; readonly info: OutputInfo }, MediaError> =>
  Effect.tryPromise({
    try: () =>
      // For libjpeg, pixels that are missing before an end marker are only a warning.
      edit(sharp(bytes, { limitInputPixels: pixelsMax, failOn: "warning" }).timeout({ seconds: secondsMax }))
        .toBuffer({ resolveWithObject: true }),
    catch: (cause) =>
      new MediaError({
        reason: cause instanceof Error && cause.message.startsWith("timeout:")
          ? new TookTooLong({ secondsMax })
          : new Corrupt({ cause })
      })
  })

/**
 * Encodes an image in a format, with hardly visible loss. A WebP is limited in size: at a
 * quality above 88, large noise does not fit.
 */
export const encodeAs: Readonly<Record<ImageMime, (image: Sharp) => Sharp>> = {
  "image/png": (image) => image.png(),
  "image/jpeg": (image) => image.jpeg({ quality: 90, chromaSubsampling: "4:4:4" }),
  "image/webp": (image) => image.webp({ quality: 85, effort: 1 })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** The header of an image file. */
interface Header {
  readonly mime: ImageMime
  /** Pixels, after orientation. */
  readonly width: number
  /** Pixels, after orientation. */
  readonly height: number
  /** Number of frames. More than one in an animation. */
  readonly frames: number
}
