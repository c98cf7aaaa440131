/** Sizes of pictures. */

/** Supported aspect ratios, width by height. */
export const aspectRatios = ["1:1", "3:2", "2:3", "16:9", "9:16", "4:3", "3:4"] as const
/** One of `aspectRatios`. */
export type AspectRatio = typeof aspectRatios[number]

/** Supported resolutions. `512px` is about a quarter of a megapixel, `1k` one, `2k` four. */
export const resolutions = ["512px", "1k", "2k"] as const
/** One of `resolutions`. */
export type Resolution = typeof resolutions[number]

/** A size in pixels. Both sides are multiples of 8, which suits encoders. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** Returns the size of a picture. */
export const of = (aspectRatio: AspectRatio, resolution: Resolution): PictureSize => {
  const [width, height] = oneMegapixel[aspectRatio]
  const factor = factors[resolution]
  return { width: width * factor, height: height * factor }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const factors: Readonly<Record<Resolution, number>> = { "512px": 0.5, "1k": 1, "2k": 2 }

const oneMegapixel: Readonly<Record<AspectRatio, readonly [width: number, height: number]>> = {
  "1:1": [1024, 1024],
  "3:2": [1248, 832],
  "2:3": [832, 1248],
  "16:9": [1344, 768],
  "9:16": [768, 1344],
  "4:3": [1152, 864],
  "3:4": [864, 1152]
}
