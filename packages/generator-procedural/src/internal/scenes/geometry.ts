/** A poster of tiles: quarter circles, rings, stripes and dots in the palette's flat colours. */
import { Chance } from "../chance.ts"
import { black, css, mix, type Rgb } from "../color.ts"
import type { Plan } from "../plan.ts"
import { finish, type Scene, type Surface, tau } from "../surface.ts"

/** Paints a poster of tiles. */
export const geometry: Scene = (plan, surface) => {
  for (const tile of tilesOf(plan, surface, new Chance(`geometry|${plan.key}`))) paintTile(surface, tile)
  finish(plan, surface, 0.16)
}

/** A tile of a poster. */
export interface Tile {
  /** Pixels. */
  readonly x: number
  /** Pixels. */
  readonly y: number
  /** Pixels. */
  readonly side: number
  readonly back: Rgb
  readonly front: Rgb
  readonly accent: Rgb
  readonly pattern: Pattern
  /** How far the pattern is turned, in radians. */
  readonly angle: number
}

/** Decides the tiles of a poster. They cover the picture. */
export const tilesOf = ({ dark, palette }: Plan, surface: Surface, chance: Chance): ReadonlyArray<Tile> => {
  const [c0, c1, c2, c3, c4, c5] = palette
  const ground = dark ? mix(c0, black, 0.2) : c5
  const ink = dark ? c5 : c0
  const colors: Colors = [c1, c2, c3, c4, ink, ground]
  return layOut(surface, chance).map((place) => {
    const back = chance.pick(colors)
    const others = colors.filter((color) => color !== back)
    const front = chance.pick([others[0]!, ...others.slice(1)])
    const accent = chance.pick([others.find((color) => color !== front)!, ...others.filter((color) => color !== front)])
    const pattern = chance.pick(patterns)
    return { ...place, back, front, accent, pattern, angle: chance.whole(0, 3) * Math.PI / 2 }
  })
}

/** Paints a tile, turned by an angle in radians. */
export const paintTile = ({ context }: Surface, tile: Tile, turned = 0): void => {
  const { accent, angle, back, front, pattern, side, x, y } = tile
  context.save()
  context.beginPath()
  context.rect(x, y, side, side)
  context.clip()
  context.fillStyle = css(back)
  context.fillRect(x, y, side, side)
  context.translate(x + side / 2, y + side / 2)
  context.rotate(angle + turned)
  context.fillStyle = css(front)
  context.strokeStyle = css(front)
  context.beginPath()
  pattern(context, side / 2, { back: css(back), accent: css(accent) })
  context.restore()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

type Colors = readonly [Rgb, Rgb, Rgb, Rgb, Rgb, Rgb]

type Place = Pick<Tile, "x" | "y" | "side">

/** A grid that fills the picture; here and there four tiles make room for a large one. */
const layOut = ({ height, width }: Surface, chance: Chance): ReadonlyArray<Place> => {
  const across = chance.whole(5, 6)
  // Whole pixels, so that no seam shows between tiles of one colour.
  const side = Math.ceil(Math.min(width, height) / across)
  const columns = Math.ceil(width / side)
  const rows = Math.ceil(height / side)
  const left = Math.round((width - columns * side) / 2)
  const top = Math.round((height - rows * side) / 2)
  const taken = new Set<number>()
  const tiles: Array<Place> = []
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const index = row * columns + column
      if (taken.has(index)) continue
      const fits = column + 1 < columns && row + 1 < rows && !taken.has(index + 1)
      const large = chance.happens(0.13) && fits
      if (large) { for (const covered of [index + 1, index + columns, index + columns + 1]) taken.add(covered) }
      tiles.push({ x: left + column * side, y: top + row * side, side: large ? side * 2 : side })
    }
  }
  return tiles
}

/** Paints into a square from -half to half; fill and stroke are set to the front colour. */
type Pattern = (
  context: Surface["context"],
  half: number,
  colors: { readonly back: string; readonly accent: string }
) => void

const quarter: Pattern = (context, half) => {
  context.moveTo(-half, -half)
  context.arc(-half, -half, 2 * half, 0, Math.PI / 2)
  context.fill()
}

const quarterWithin: Pattern = (context, half, { accent }) => {
  context.moveTo(-half, -half)
  context.arc(-half, -half, 2 * half, 0, Math.PI / 2)
  context.fill()
  context.fillStyle = accent
  context.beginPath()
  context.moveTo(-half, -half)
  context.arc(-half, -half, half, 0, Math.PI / 2)
  context.fill()
}

const ring: Pattern = (context, half, { back }) => {
  context.arc(0, 0, half * 0.86, 0, tau)
  context.fill()
  context.fillStyle = back
  context.beginPath()
  context.arc(0, 0, half * 0.43, 0, tau)
  context.fill()
}

const halves: Pattern = (context, half) => {
  context.arc(-half, 0, half, -Math.PI / 2, Math.PI / 2)
  context.arc(half, 0, half, Math.PI / 2, -Math.PI / 2)
  context.fill()
}

const triangle: Pattern = (context, half) => {
  context.moveTo(-half, -half)
  context.lineTo(half, -half)
  context.lineTo(-half, half)
  context.fill()
}

const stripes: Pattern = (context, half) => {
  for (let stripe = 0; stripe < 5; stripe++) context.rect(-half, -half + stripe * half * 0.4, 2 * half, half * 0.2)
  context.fill()
}

const arcs: Pattern = (context, half) => {
  context.lineWidth = half * 0.22
  for (let arc = 1; arc <= 4; arc++) {
    context.beginPath()
    context.arc(-half, -half, 2 * half * arc / 4.3, 0, Math.PI / 2)
    context.stroke()
  }
}

const dots: Pattern = (context, half) => {
  for (let row = 0; row < 4; row++) {
    for (let column = 0; column < 4; column++) {
      const x = -half + (column + 0.5) * half / 2
      const y = -half + (row + 0.5) * half / 2
      context.moveTo(x + half * 0.13, y)
      context.arc(x, y, half * 0.13, 0, tau)
    }
  }
  context.fill()
}

const sunrise: Pattern = (context, half, { accent }) => {
  context.arc(0, half, half, Math.PI, 0)
  context.fill()
  context.fillStyle = accent
  context.beginPath()
  context.arc(0, -half * 0.4, half * 0.32, 0, tau)
  context.fill()
}

const diamond: Pattern = (context, half) => {
  context.moveTo(0, -half)
  context.lineTo(half, 0)
  context.lineTo(0, half)
  context.lineTo(-half, 0)
  context.fill()
}

const petals: Pattern = (context, half) => {
  context.moveTo(-half, -half)
  context.arc(-half, half, 2 * half, -Math.PI / 2, 0)
  context.arc(half, -half, 2 * half, Math.PI / 2, Math.PI)
  context.fill()
}

const corners: Pattern = (context, half) => {
  context.moveTo(-half, -half)
  context.arc(-half, -half, half, 0, Math.PI / 2)
  context.moveTo(half, half)
  context.arc(half, half, half, Math.PI, 1.5 * Math.PI)
  context.fill()
}

const patterns = [
  quarter,
  quarterWithin,
  ring,
  halves,
  triangle,
  stripes,
  arcs,
  dots,
  sunrise,
  diamond,
  petals,
  corners
] as const
