/** Computes the path of a brush over a guide. */
import type { Rgb } from "../color.ts"
import { clamp, type Noise } from "../noise.ts"
import type { Contours } from "./contours.ts"
import { cellAt, colorAt, type Guide } from "./guide.ts"

/** A point of a stroke. */
export interface Point {
  /** Shares of width and height. */
  readonly x: number
  readonly y: number
  /** The direction of the stroke, of length 1. */
  readonly alongX: number
  readonly alongY: number
}

/** The fields that a brush follows. */
export interface Ground {
  readonly guide: Guide
  readonly contours: Contours
  /** The brush follows this slow current where the guide has no contours. */
  readonly noise: Noise
  /** Sides of the picture, the shorter one being 1. */
  readonly width: number
  readonly height: number
}

/** Returns a stroke of at most `steps` steps along the contours. It ends early before another colour. */
export const pathOf = (
  ground: Ground,
  from: { readonly x: number; readonly y: number },
  stride: number,
  steps: number
): ReadonlyArray<Point> => {
  const { guide, height, width } = ground
  const start = colorAt(guide, from.x, from.y)
  const points: Array<Point> = []
  let [x, y, beforeX, beforeY] = [from.x, from.y, 0, 0]
  for (let step = 0; step < steps; step++) {
    const angle = angleAt(ground, x, y)
    const sense = Math.cos(angle) * beforeX + Math.sin(angle) * beforeY < 0 ? -1 : 1
    const [alongX, alongY] = [sense * Math.cos(angle), sense * Math.sin(angle)]
    points.push({ x, y, alongX, alongY })
    x += alongX * stride / width
    y += alongY * stride / height
    if (distance(start, colorAt(guide, x, y)) > otherColor) break
    beforeX = alongX
    beforeY = alongY
  }
  // Half a step more, so that a stroke that ends immediately is visible.
  const { alongX, alongY } = points.at(-1)!
  points.push({ x: x - alongX * stride * 0.5 / width, y: y - alongY * stride * 0.5 / height, alongX, alongY })
  return points
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A colour that differs this much, summed over the channels, belongs to something else. */
const otherColor = 66

/** Contours where they are clear, the current elsewhere. */
const angleAt = ({ contours, height, noise, width }: Ground, x: number, y: number): number => {
  const cell = cellAt(contours, x, y)
  const clear = clamp(contours.clarity[cell]! * 1.6)
  const contour = contours.angle[cell]!
  const current = noise.octaves(x * width * 1.4, y * height * 1.4, 5, 2) * 4
  // Two directions without a sense are mixed at twice their angles.
  return Math.atan2(
    clear * Math.sin(2 * contour) + (1 - clear) * Math.sin(2 * current),
    clear * Math.cos(2 * contour) + (1 - clear) * Math.cos(2 * current)
  ) / 2
}

const distance = (a: Rgb, b: Rgb): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]) + Math.abs(a[2] - b[2])
