/** libvips with a bound on everything: which formats, how many bytes and pixels, how long. */
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

/** See `MediaOptions`. */
export interface Limits {
  readonly bytesMax: number
  readonly pixelsMax: number
  readonly secondsMax: number
}

/** SVG, PDF, RAW and the like are parsers with a reach of their own; only three formats are asked for. */
export const confine = (): void => {
  sharp.block({ operation: ["VipsForeignLoad"] })
  sharp.unblock({
    operation: ["VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer", "VipsForeignLoadWebpBuffer"]
  })
  sharp.cache(false)
  sharp.concurrency(1)
}

/** Refuses by what costs nothing: length, first bytes, and the sides that the header gives. */
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
      // Only the header is read, so the limit is checked below, where its refusal can say the sides.
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

/** Decodes the first picture of a file to its end, and writes what `edit` makes of it. */
export const decode = (
  bytes: Uint8Array,
  { pixelsMax, secondsMax }: Limits,
  edit: (image: Sharp) => Sharp
): Effect.Effect<{ readonly data: Uint8Array; readonly info: OutputInfo }, MediaError> =>
  Effect.tryPromise({
    try: () =>
      edit(sharp(bytes, { limitInputPixels: pixelsMax, failOn: "error" }).timeout({ seconds: secondsMax }))
        .toBuffer({ resolveWithObject: true }),
    catch: (cause) =>
      new MediaError({
        reason: cause instanceof Error && cause.message.startsWith("timeout:")
          ? new TookTooLong({ secondsMax })
          : new Corrupt({ cause })
      })
  })

/**
 * Writes a picture in a format, with a loss that hardly anybody sees. WebP has room
 * for so much detail only: at a quality above 88, large noise does not fit any more.
 */
export const encodeAs: Readonly<Record<ImageMime, (image: Sharp) => Sharp>> = {
  "image/png": (image) => image.png(),
  "image/jpeg": (image) => image.jpeg({ quality: 90, chromaSubsampling: "4:4:4" }),
  "image/webp": (image) => image.webp({ quality: 85, effort: 1 })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** What a file says of itself before its pixels. */
interface Header {
  readonly mime: ImageMime
  /** As shown. */
  readonly width: number
  /** As shown. */
  readonly height: number
  /** Pictures in the file: more than one in an animation. */
  readonly frames: number
}
