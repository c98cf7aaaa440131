/** Places references in a picture. */

/** A rectangle, in shares of the picture. */
export interface Region {
  readonly left: number
  readonly top: number
  readonly right: number
  readonly bottom: number
}

/** Maximum number of references of a picture. */
export const referencesMax = 4

/** Width of the transition between two regions, as a share of the picture. */
export const seam = 0.07

/**
 * Returns one region per reference. A single reference fills the picture; the first of
 * three fills half of it.
 */
export const regionsOf = (count: number, aspect: number): ReadonlyArray<Region> => {
  const [first, second] = aspect >= 1
    ? [{ ...whole, right: 0.5 }, { ...whole, left: 0.5 }]
    : [{ ...whole, bottom: 0.5 }, { ...whole, top: 0.5 }]
  switch (count) {
    case 1:
      return [whole]
    case 2:
      return [first, second]
    case 3:
      return [first, ...halvesAcross(second, aspect)]
    default:
      return [...halvesAcross(first, aspect), ...halvesAcross(second, aspect)]
  }
}

/** The region with what it shares with its neighbours. */
export const grown = ({ bottom, left, right, top }: Region): Region => ({
  left: left === 0 ? 0 : left - seam,
  top: top === 0 ? 0 : top - seam,
  right: right === 1 ? 1 : right + seam,
  bottom: bottom === 1 ? 1 : bottom + seam
})

/** The size of a grid, in whole pixels. */
export interface Grid {
  readonly columns: number
  readonly rows: number
}

/** Returns the grid of the guide: fine enough for the thinnest brush, and the same for every resolution. */
export const gridOf = (width: number, height: number): Grid => {
  const scale = gridSide / Math.max(width, height)
  return { columns: Math.round(width * scale), rows: Math.round(height * scale) }
}

/** A region on a grid. */
export interface Place extends Grid {
  readonly column: number
  readonly row: number
}

/** Where the grown region lies on the grid. */
export const placeOf = (region: Region, { columns, rows }: Grid): Place => {
  const { bottom, left, right, top } = grown(region)
  const column = Math.round(left * columns)
  const row = Math.round(top * rows)
  return { column, row, columns: Math.round(right * columns) - column, rows: Math.round(bottom * rows) - row }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const gridSide = 384

const whole: Region = { left: 0, top: 0, right: 1, bottom: 1 }

/** Returns the two halves of a half of the picture, whose cut is perpendicular to that between the halves. */
const halvesAcross = (region: Region, aspect: number): readonly [Region, Region] =>
  aspect >= 1
    ? [{ ...region, bottom: 0.5 }, { ...region, top: 0.5 }]
    : [{ ...region, right: 0.5 }, { ...region, left: 0.5 }]
