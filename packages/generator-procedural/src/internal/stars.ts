/** Stars, most of them faint, a few with rays. */
import { Chance } from "./chance.ts"
import { css, type Rgb } from "./color.ts"
import { glow, type Surface, tau } from "./surface.ts"

/** Properties of a sky of stars. */
export interface StarsOptions {
  /** Distinguishes several skies of one picture. */
  readonly key: string
  readonly count: number
  readonly colors: readonly [Rgb, ...ReadonlyArray<Rgb>]
  /** 0 to 1. */
  readonly alpha: number
  /** Share of the height, from the top, that has stars; they fade out towards its end. Default 1. */
  readonly reach?: number | undefined
}

/** Paints stars all over the sky. */
export const paintStars = (surface: Surface, { alpha, colors, count, key, reach = 1 }: StarsOptions): void => {
  const { context, height, unit, width } = surface
  const chance = new Chance(`stars|${key}`)
  for (let star = 0; star < count; star++) {
    const x = chance.next() * width
    const depth = chance.next()
    const size = chance.next() ** 7
    const color = chance.pick(colors)
    const twinkle = chance.between(0.6, 1)
    const fading = reach < 1 ? (1 - depth) ** 0.6 : 1
    const shown = alpha * (0.35 + 0.65 * size) * twinkle * fading
    const y = depth * reach * height
    const radius = (0.45 + 1.9 * size) * unit
    context.fillStyle = css(color, shown)
    context.beginPath()
    context.arc(x, y, radius, 0, tau)
    context.fill()
    if (size > 0.45) paintRays(surface, x, y, radius, color, shown)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const paintRays = (surface: Surface, x: number, y: number, radius: number, color: Rgb, alpha: number): void => {
  const { context, unit } = surface
  glow(surface, x, y, radius * 9, color, alpha * 0.55)
  context.fillStyle = css(color, alpha * 0.6)
  const length = radius * 6
  const breadth = unit * 0.55
  for (const [dx, dy] of [[length, breadth], [breadth, length]] as const) {
    context.beginPath()
    context.ellipse(x, y, dx, dy, 0, 0, tau)
    context.fill()
  }
}
