/** Scales of charts. */

/** The smallest axis step of the form 1, 2, 2.5 or 5 × 10ⁿ, an integer, that needs at most five steps up to `max`. */
const stepOf = (max: number): number => {
  const rough = Math.max(1, max / 4)
  const power = 10 ** Math.floor(Math.log10(rough))
  return [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= rough && Number.isInteger(one)) ??
    Math.ceil(rough)
}

/** The labelled values of an axis from 0 to at least `max`. */
export const ticksOf = (max: number): ReadonlyArray<number> => {
  const step = stepOf(max)
  return Array.from({ length: Math.max(1, Math.ceil(max / step)) + 1 }, (_, index) => index * step)
}

/** The path of a bar whose upper corners are rounded. */
export const barPath = (x: number, y: number, width: number, height: number, radius: number): string =>
  `M${x},${y + height}V${y + radius}Q${x},${y} ${x + radius},${y}H${x + width - radius}` +
  `Q${x + width},${y} ${x + width},${y + radius}V${y + height}Z`
