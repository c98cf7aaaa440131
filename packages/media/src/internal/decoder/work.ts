/**
 * Decodes an image with libvips and encodes what is made of it. Imports nothing but sharp, so that a process that runs it
 * starts fast.
 */
import sharp, { type OutputInfo, type Sharp } from "sharp"
import type { ImageMime } from "../../MediaError.ts"

/** The work on an image: makes a copy in its own format, or a WebP with a maximum side. */
export type Work =
  | { readonly kind: "copy"; readonly mime: ImageMime }
  | { readonly kind: "smaller"; readonly sideMax: number; readonly quality: number }

/** Limits of the work. See `MediaOptions`. */
export interface WorkLimits {
  readonly pixelsMax: number
  readonly secondsMax: number
}

/** The encoded image. */
export interface Made {
  readonly data: Uint8Array
  readonly info: Pick<OutputInfo, "height" | "width">
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

/**
 * Decodes the first frame of a file completely, applies `edit`, and encodes the result. Rejects with the error of
 * the decoder (`isTimeout`).
 */
export const decode = (
  bytes: Uint8Array,
  { pixelsMax, secondsMax }: WorkLimits,
  edit: (image: Sharp) => Sharp
): Promise<Made> =>
  // For libjpeg, pixels that are missing before an end marker are only a warning.
  edit(sharp(bytes, { limitInputPixels: pixelsMax, failOn: "warning" }).timeout({ seconds: secondsMax }))
    .toBuffer({ resolveWithObject: true })

/** Returns whether the decoder stopped at `secondsMax`. */
export const isTimeout = (cause: unknown): boolean => cause instanceof Error && cause.message.startsWith("timeout:")

/** Does the work: upright, in sRGB and without metadata, which libvips writes only if asked to. */
export const run = (bytes: Uint8Array, limits: WorkLimits, work: Work): Promise<Made> =>
  decode(bytes, limits, (image) => {
    const upright = image.autoOrient()
    if (work.kind === "copy") return copyAs[work.mime](upright)
    const { quality, sideMax } = work
    return upright.resize(sideMax, sideMax, { fit: "inside", withoutEnlargement: true }).webp({ quality, effort: 2 })
  })

const jpeg = { quality: 90, chromaSubsampling: "4:4:4" } as const

/**
 * Encodes an image in a format, with hardly visible loss. A WebP is limited in size: at a
 * quality above 88, large noise does not fit.
 */
export const encodeAs: Readonly<Record<ImageMime, (image: Sharp) => Sharp>> = {
  "image/png": (image) => image.png(),
  "image/jpeg": (image) => image.jpeg(jpeg),
  "image/webp": (image) => image.webp({ quality: 85, effort: 1 })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Best codes of a JPEG need all coefficients in memory, 6 bytes per pixel, to make it some percent shorter. */
const copyAs: typeof encodeAs = { ...encodeAs, "image/jpeg": (image) => image.jpeg({ ...jpeg, optimiseCoding: false }) }
