/** Computes the direction of the contours of a guide, and its amount of detail. */
import { blurred, type Guide } from "./guide.ts"
import type { Grid } from "./layout.ts"

/** Fields on the guide's grid. */
export interface Contours extends Grid {
  /** The direction along the contours near a cell, as an angle without a sense: 0 to half a turn. */
  readonly angle: Float32Array
  /** How much the contours near a cell agree on it, 0 to 1. */
  readonly clarity: Float32Array
  /** How much light and dark change near a cell: 0 in a plain sky, about 1 at the edge of a roof. */
  readonly detail: Float32Array
}

/** Computes the contours of a guide. */
export const contoursOf = (guide: Guide): Contours => {
  const { columns, rows } = guide
  // The products of the slopes, in place of three colours, are smoothed instead of the angles: angles have no mean.
  const { colors } = blurred({ columns, rows, colors: slopesOf(guide) }, 3)
  const fields = { angle: of(guide), clarity: of(guide), detail: of(guide) }
  for (let cell = 0; cell < columns * rows; cell++) {
    const [xx, xy, yy] = [colors[cell * 3]!, colors[cell * 3 + 1]!, colors[cell * 3 + 2]!]
    const spread = Math.hypot(xx - yy, 2 * xy)
    // Strokes are perpendicular to the strongest slope.
    fields.angle[cell] = (Math.atan2(2 * xy, xx - yy) + Math.PI) / 2
    fields.clarity[cell] = spread / (xx + yy + 4)
    fields.detail[cell] = Math.sqrt(xx + yy) / 40
  }
  return { columns, rows, ...fields }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const of = ({ columns, rows }: Grid) => new Float32Array(columns * rows)

/** For each cell the slope of its light to the right and down, as their three products. */
const slopesOf = ({ colors, columns, rows }: Guide): Float32Array => {
  const slopes = new Float32Array(columns * rows * 3)
  const light = (column: number, row: number) => {
    const cell = (Math.max(0, Math.min(rows - 1, row)) * columns + Math.max(0, Math.min(columns - 1, column))) * 3
    return 0.299 * colors[cell]! + 0.587 * colors[cell + 1]! + 0.114 * colors[cell + 2]!
  }
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const x = (light(column + 1, row) - light(column - 1, row)) / 2
      const y = (light(column, row + 1) - light(column, row - 1)) / 2
      slopes.set([x * x, x * y, y * y], (row * columns + column) * 3)
    }
  }
  return slopes
}
