/** The small picture that a painting follows, composed of its references. */
import sharp from "sharp"
import type { Rgb } from "../color.ts"
import { smoothstep } from "../noise.ts"
import { type Grid, gridOf, type Place, placeOf, type Region, regionsOf, seam } from "./layout.ts"

/** Colours on a grid, three numbers from 0 to 255 for each cell. */
export interface Guide extends Grid {
  readonly colors: Float32Array
}

/**
 * Composes references: each in its region, with a gradual transition to its neighbours.
 * The references are encoded images in base64, as `References` returns them.
 */
export const guideOf = async (
  references: ReadonlyArray<string>,
  width: number,
  height: number
): Promise<Guide> => {
  const grid = gridOf(width, height)
  const colors = new Float32Array(grid.columns * grid.rows * 3)
  const weights = new Float32Array(grid.columns * grid.rows)
  for (const [index, region] of regionsOf(references.length, width / height).entries()) {
    const place = placeOf(region, grid)
    const pixels = await sharp(Buffer.from(references[index] ?? "", "base64"))
      .resize(place.columns, place.rows, { fit: "fill" })
      .removeAlpha()
      .raw()
      .toBuffer()
    add(colors, weights, grid, region, place, pixels)
  }
  for (let cell = 0; cell < weights.length; cell++) {
    for (let channel = 0; channel < 3; channel++) colors[cell * 3 + channel]! /= weights[cell]!
  }
  return { ...grid, colors }
}

/** The cell at a place in shares of width and height; beyond the edge, the nearest one. */
export const cellAt = ({ columns, rows }: Grid, x: number, y: number): number =>
  Math.max(0, Math.min(rows - 1, Math.floor(y * rows))) * columns +
  Math.max(0, Math.min(columns - 1, Math.floor(x * columns)))

/** The colour there. */
export const colorAt = (guide: Guide, x: number, y: number): Rgb => {
  const offset = cellAt(guide, x, y) * 3
  return [guide.colors[offset]!, guide.colors[offset + 1]!, guide.colors[offset + 2]!]
}

/** Blurs the guide: each cell becomes the mean of its surroundings. */
export const blurred = (guide: Guide, radius: number): Guide => {
  if (radius < 1) return guide
  const { columns, rows } = guide
  const across = smeared(guide.colors, radius, rows, columns * 3, columns, 3)
  return { columns, rows, colors: smeared(across, radius, columns, 3, rows, columns * 3) }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const add = (
  colors: Float32Array,
  weights: Float32Array,
  { columns, rows }: Grid,
  region: Region,
  place: Place,
  pixels: Uint8Array
): void => {
  for (let row = 0; row < place.rows; row++) {
    const down = weightAt((place.row + row + 0.5) / rows, region.top, region.bottom)
    for (let column = 0; column < place.columns; column++) {
      const weight = down * weightAt((place.column + column + 0.5) / columns, region.left, region.right)
      const cell = (place.row + row) * columns + place.column + column
      const pixel = (row * place.columns + column) * 3
      weights[cell]! += weight
      for (let channel = 0; channel < 3; channel++) colors[cell * 3 + channel]! += weight * pixels[pixel + channel]!
    }
  }
}

/** How much of a region there is at a place along one direction: it fades where a neighbour begins. */
const weightAt = (place: number, low: number, high: number): number =>
  (low === 0 ? 1 : 1e-3 + smoothstep(low - seam, low + seam, place)) *
  (high === 1 ? 1 : 1e-3 + 1 - smoothstep(high - seam, high + seam, place))

/** Means along one direction, kept as running sums so that the radius costs nothing. */
const smeared = (
  source: Float32Array,
  radius: number,
  lines: number,
  lineStep: number,
  length: number,
  step: number
): Float32Array => {
  const target = new Float32Array(source.length)
  const at = (start: number, index: number) => source[start + Math.max(0, Math.min(length - 1, index)) * step]!
  for (let line = 0; line < lines; line++) {
    for (let channel = 0; channel < 3; channel++) {
      const start = line * lineStep + channel
      let sum = 0
      for (let index = -radius; index <= radius; index++) sum += at(start, index)
      for (let index = 0; index < length; index++) {
        target[start + index * step] = sum / (2 * radius + 1)
        sum += at(start, index + radius + 1) - at(start, index - radius)
      }
    }
  }
  return target
}
