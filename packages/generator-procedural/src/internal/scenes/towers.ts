/** The towers of a city. */
import type { Chance } from "../chance.ts"
import { css, mix, type Rgb, white } from "../color.ts"
import type { Palette } from "../palette.ts"
import { glow, type Surface } from "../surface.ts"

type Roof = "flat" | "slanted" | "stepped" | "machinery" | "tapered"

/** One tower, in pixels. */
export interface Block {
  readonly x: number
  readonly width: number
  readonly height: number
  readonly roof: Roof
  readonly columns: number
  readonly rows: number
  /** Light of each window, row by row; 0 is dark. */
  readonly windows: ReadonlyArray<number>
  readonly spire: number
  /** Colour of a neon sign as a share of the palette, or `null`. */
  readonly sign: number | null
}

/** Properties of a row of towers. */
export interface BlockStyle {
  readonly palette: Palette
  readonly color: Rgb
  readonly nearness: number
  /** Where the light comes from. */
  readonly lightX: number
  readonly ground: number
}

/** A row of towers from one edge to the other. */
export const makeBlocks = (
  chance: Chance,
  surface: Surface,
  nearness: number,
  ground: number
): ReadonlyArray<Block> => {
  const side = Math.min(surface.width, surface.height)
  // A tall picture has taller towers, up to a point.
  const reach = Math.min(ground * 0.8, side * 1.05)
  const blocks: Array<Block> = []
  let x = -chance.between(0, 0.08) * side
  while (x < surface.width) {
    const width = chance.between(0.045, 0.1) * (1 + 0.5 * nearness) * side
    const cluster = Math.exp(-(((x + width / 2) / surface.width - 0.5) ** 2) * 5)
    const height = (0.18 + chance.next() ** 1.8 * 0.56 + 0.3 * cluster * (1 - nearness)) * (1 - 0.35 * nearness) * reach
    const columns = Math.max(3, Math.round(width / side / (0.0115 + 0.0045 * nearness)))
    const rows = Math.max(4, Math.round(height / side / (0.017 + 0.006 * nearness)))
    const lit = chance.between(0.16, 0.55)
    const roof = chance.pick(roofs)
    blocks.push({
      x,
      width,
      height,
      roof,
      columns,
      rows,
      windows: makeWindows(chance, columns, rows, lit),
      spire: chance.happens(0.28) && roof !== "slanted" ? chance.between(0.02, 0.09) * side : 0,
      sign: nearness > 0.3 && chance.happens(0.28) ? chance.next() : null
    })
    x += width * chance.between(0.88, 1.14)
  }
  return blocks
}

/** Paints a tower: its body lit from one side, windows, spire and sign. */
export const paintBlock = (surface: Surface, block: Block, style: BlockStyle): void => {
  const { context, unit } = surface
  const { color, lightX, nearness, palette } = style
  const top = style.ground - block.height
  const lightOnRight = block.x + block.width / 2 < lightX
  const bright = mix(color, palette[3], 0.2 * (1 - nearness) + 0.04)
  const gradient = context.createLinearGradient(block.x, 0, block.x + block.width, 0)
  gradient.addColorStop(lightOnRight ? 0 : 1, css(color))
  gradient.addColorStop(lightOnRight ? 1 : 0, css(bright))
  context.fillStyle = gradient
  context.beginPath()
  addBody(surface, block, top, style.ground)
  context.fill()
  if (block.spire > 0) {
    const x = block.x + block.width / 2
    context.fillStyle = css(color)
    context.fillRect(x - unit, top - block.spire, 2 * unit, block.spire + 4 * unit)
    glow(surface, x, top - block.spire, 11 * unit, [255, 70, 60], 0.45 + 0.4 * nearness)
  }
  paintWindows(surface, block, top, style)
  if (block.sign !== null) paintSign(surface, block, top, palette, block.sign)
}

/** Returns the place of a window, in pixels. `top` is the upper edge of the tower. */
export const windowOf = (block: Block, top: number, row: number, column: number) => {
  const cell = block.width / (block.columns + 1)
  const floor = block.height * 0.96 / (block.rows + 1)
  return {
    x: block.x + cell * (column + 0.72),
    y: top + floor * (row + 0.8),
    width: cell * 0.56,
    height: floor * 0.5
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const roofs = ["flat", "flat", "slanted", "stepped", "machinery", "tapered"] as const

/** Offices light whole floors, flats light single rooms. */
const makeWindows = (chance: Chance, columns: number, rows: number, lit: number): ReadonlyArray<number> => {
  const office = chance.happens(0.35)
  const windows: Array<number> = []
  for (let row = 0; row < rows; row++) {
    const floor = office ? (chance.happens(lit) ? 0.85 : 0.08) : lit
    for (let column = 0; column < columns; column++) {
      windows.push(chance.happens(floor) ? chance.between(0.25, 1) : 0)
    }
  }
  return windows
}

const addBody = ({ context }: Surface, { height, roof, width, x }: Block, top: number, ground: number): void => {
  const rise = Math.min(width * 0.35, height * 0.12)
  switch (roof) {
    case "slanted":
      context.moveTo(x, ground)
      context.lineTo(x, top + rise)
      context.lineTo(x + width, top)
      context.lineTo(x + width, ground)
      break
    case "stepped":
      context.rect(x, top + height * 0.1, width, height * 0.9)
      context.rect(x + width * 0.14, top + height * 0.04, width * 0.72, height * 0.1)
      context.rect(x + width * 0.28, top, width * 0.44, height * 0.1)
      break
    case "machinery":
      context.rect(x, top, width, height)
      context.rect(x + width * 0.12, top - rise * 0.4, width * 0.22, rise)
      context.rect(x + width * 0.58, top - rise * 0.25, width * 0.2, rise)
      break
    case "tapered":
      context.moveTo(x, ground)
      context.lineTo(x, top + rise)
      context.lineTo(x + width * 0.25, top)
      context.lineTo(x + width * 0.75, top)
      context.lineTo(x + width, top + rise)
      context.lineTo(x + width, ground)
      break
    default:
      context.rect(x, top, width, height)
  }
}

/** Returns the number of rows at the top without room for windows. */
const bareShare: Readonly<Record<Roof, number>> = { flat: 0, slanted: 0.1, stepped: 0.1, machinery: 0, tapered: 0.09 }

const paintWindows = (surface: Surface, block: Block, top: number, { nearness, palette }: BlockStyle): void => {
  const { context } = surface
  const strength = 0.3 + 0.7 * nearness
  const bare = Math.ceil(block.rows * bareShare[block.roof])
  const shades: ReadonlyArray<readonly [low: number, high: number, color: Rgb]> = [
    [0, 0.5, mix(palette[4], palette[3], 0.3)],
    [0.5, 0.85, mix(palette[4], [255, 214, 140], 0.65)],
    [0.85, 1.1, mix(palette[5], [255, 236, 200], 0.5)]
  ]
  for (const [low, high, color] of shades) {
    context.fillStyle = css(color, (0.35 + 0.5 * high) * strength)
    context.beginPath()
    for (let row = bare; row < block.rows; row++) {
      for (let column = 0; column < block.columns; column++) {
        const light = block.windows[row * block.columns + column]!
        if (light <= low || light > high) continue
        const { height, width, x, y } = windowOf(block, top, row, column)
        context.rect(x, y, width, height)
      }
    }
    context.fill()
  }
}

const paintSign = (surface: Surface, block: Block, top: number, palette: Palette, share: number): void => {
  const { context, unit } = surface
  const color = share < 0.4 ? palette[3] : share < 0.8 ? palette[4] : mix(palette[3], palette[4], 0.5)
  const width = block.width * 0.16
  const height = Math.min(block.height * 0.34, 130 * unit)
  const x = block.x + block.width * 0.08
  const y = top + block.height * 0.2
  glow(surface, x + width / 2, y + height / 2, height * 0.95, color, 0.5)
  context.fillStyle = css(mix(color, white, 0.3), 0.92)
  const letters = 5
  for (let letter = 0; letter < letters; letter++) {
    context.fillRect(x, y + height / letters * letter, width, height / letters - 2.5 * unit)
  }
}
