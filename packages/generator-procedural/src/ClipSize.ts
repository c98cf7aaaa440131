/** Sizes of videos. */

/** Supported aspect ratios, width by height. */
export const aspectRatios = ["16:9", "9:16", "1:1", "4:3", "3:4"] as const
/** One of `aspectRatios`. */
export type AspectRatio = typeof aspectRatios[number]

/** Supported resolutions, by the length of the shorter side. */
export const resolutions = ["480p", "720p", "1080p"] as const
/** One of `resolutions`. */
export type Resolution = typeof resolutions[number]

/** Frames per second of every video. */
export const frameRate = 24

/** Minimum duration of a video, in seconds. */
export const secondsMin = 2

/** Maximum duration of a video, in seconds. */
export const secondsMax = 10

/** A size in pixels. Both sides are even, as H.264 with 4:2:0 colour requires. */
export interface ClipSize {
  readonly width: number
  readonly height: number
}

/** Returns the size of a video. */
export const of = (aspectRatio: AspectRatio, resolution: Resolution): ClipSize => {
  const shorter = shorterSides[resolution]
  const [x, y] = shapes[aspectRatio]
  const longer = 2 * Math.round(shorter * Math.max(x, y) / Math.min(x, y) / 2)
  return x < y ? { width: shorter, height: longer } : { width: longer, height: shorter }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const shorterSides: Readonly<Record<Resolution, number>> = { "480p": 480, "720p": 720, "1080p": 1080 }

const shapes: Readonly<Record<AspectRatio, readonly [x: number, y: number]>> = {
  "16:9": [16, 9],
  "9:16": [9, 16],
  "1:1": [1, 1],
  "4:3": [4, 3],
  "3:4": [3, 4]
}
