/** Ranges of land, from far and hazy to near and dark, each lit from the side of the sun. */
import { createCanvas } from "@napi-rs/canvas"
import { black, css, mix, Ramp, type Rgb, white } from "../color.ts"
import { clamp, smoothstep } from "../noise.ts"
import { type Surface, vertical } from "../surface.ts"
import type { Range, RangesOptions } from "./range.ts"
import { paintTrees } from "./trees.ts"

/** The ranges of a picture, the farthest first. */
export const makeRanges = (options: RangesOptions): ReadonlyArray<Range> => {
  const { chance, horizon, sky, terrain, water } = options
  const shape = shapes[terrain]
  const count = water ? 4 : shape.count
  // The summit stands away from the sun, so that neither hides the other.
  const summit = sky.sunX < 0.5 ? chance.between(0.6, 0.75) : chance.between(0.25, 0.4)
  return Array.from({ length: count }, (_, index) => {
    const nearness = index / (count - 1)
    return {
      ...options,
      nearness,
      base: water ? horizon * (0.88 + 0.13 * nearness) : shape.top + (1.02 - shape.top) * nearness ** 1.1,
      rise: shape.rise * (1 - (water ? 0.72 : 0.5) * nearness) * chance.between(0.85, 1.15),
      frequency: shape.frequency * chance.between(0.85, 1.15) * (1 + 0.9 * nearness),
      offset: chance.between(0, 500),
      summit: index === 0 ? summit : chance.next()
    }
  })
}

/** Paints one range over what is behind it. */
export const paintRange = (surface: Surface, range: Range): void => {
  const { context, height, unit, width } = surface
  const step = Math.max(1, width / 1400)
  const crest = Array.from({ length: Math.ceil(width / step) + 3 }, (_, index) => {
    const x = (index - 1) * step
    return [x, crestAt(surface, range, x)] as const
  })
  const outline = () => {
    context.beginPath()
    context.moveTo(-step, height + 1)
    for (const [x, y] of crest) context.lineTo(x, y)
    context.lineTo(width + step, height + 1)
    context.closePath()
  }
  const colors = colorsOf(range)
  context.save()
  outline()
  context.fillStyle = css(colors.middle)
  context.fill()
  context.clip()
  paintRelief(surface, range, colors)
  context.restore()
  paintRim(surface, crest, css(colors.rim, 0.3 * (1 - range.nearness * 0.8)), unit)
  if (range.trees > 0.02 && range.nearness > 0.3) {
    const color = mix(colors.shaded, range.palette[0], 0.35 + 0.5 * range.nearness)
    paintTrees(surface, range, color, (x) => crestAt(surface, range, x))
  }
  paintMist(surface, range, colors.haze)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const shapes = {
  peaks: { count: 6, top: 0.5, rise: 0.5, frequency: 1.15, relief: 1.7, octaves: 5 },
  hills: { count: 7, top: 0.5, rise: 0.36, frequency: 0.9, relief: 3.2, octaves: 3 },
  dunes: { count: 6, top: 0.48, rise: 0.24, frequency: 0.75, relief: 2.4, octaves: 2 }
} as const

/** The height of the land, 0 to 1, at a place of the range and so far down its slope. */
const relief = ({ frequency, nearness, noise, offset, terrain }: Range, x: number, down: number, detail: number) => {
  const along = x * frequency + offset
  const layer = 0.5 + nearness * 40
  if (terrain === "peaks") return noise.ridges(along, down * frequency * 0.85, layer, detail)
  const bend = noise.at(along * 0.7, down * frequency * 0.8, layer + 9)
  const smooth = 0.5 + 0.5 * noise.octaves(along + bend * 0.5, down * frequency * 1.5, layer, detail, 0.35)
  // A dune rises slowly and breaks off at its crest.
  return terrain === "dunes" ? 1 - Math.abs(smooth * 2 - 1) ** 1.15 : smooth
}

const crestAt = (surface: Surface, range: Range, x: number): number => {
  const { height, width } = surface
  const side = Math.min(width, height)
  const rise = range.rise * (0.75 * side + 0.25 * height)
  const place = x / side
  const shape = relief(range, place, 0, range.terrain === "peaks" ? 6 : 2)
  const away = (x / width - range.summit) * Math.max(1, surface.aspect)
  const massif = range.nearness === 0 && range.terrain === "peaks" ? 0.32 * Math.exp(-away * away * 14) : 0
  return range.base * height -
    belowTop(rise * (shape * 1.3 - 0.34 + massif * (0.5 + shape)), (range.base - 0.1) * height)
}

/** Bends what would rise out of the picture, more gently the lower it starts. */
const belowTop = (lift: number, room: number): number => {
  const knee = room * 0.4
  return lift <= knee ? lift : knee + (room - knee) * (1 - Math.exp(-(lift - knee) / (room - knee)))
}

interface Colors {
  readonly shaded: Rgb
  readonly middle: Rgb
  readonly lit: Rgb
  readonly haze: Rgb
  readonly rim: Rgb
}

const colorsOf = ({ nearness, palette, sky, snow, terrain }: Range): Colors => {
  const [c0, c1, c2, c3, c4, c5] = palette
  const haze = mix(sky.stops[2], c4, 0.25)
  const near = terrain === "dunes" ? mix(c1, c0, 0.35) : mix(c0, black, 0.12)
  const own = mix(mix(c2, c3, 0.5), near, nearness ** 0.75)
  const far = 0.55 * (1 - nearness) ** 1.4
  const middle = mix(own, haze, far)
  const glow = snow ? mix(white, c5, 0.4) : mix(c4, sky.sunColor, 0.35)
  return {
    shaded: mix(mix(middle, mix(c0, c1, 0.5), 0.55 - 0.2 * (1 - nearness)), black, 0.05),
    middle,
    lit: mix(middle, glow, (snow ? 0.85 : 0.55) * (1 - 0.72 * nearness)),
    haze,
    rim: mix(c4, sky.sunColor, 0.6)
  }
}

/** Light and shade of the slopes, computed on a coarser grid inside the outline. */
const paintRelief = (surface: Surface, range: Range, colors: Colors): void => {
  const { context, height, width } = surface
  const side = Math.min(width, height)
  const scale = side / Math.min(640, side * 0.5)
  const columns = Math.ceil(width / scale)
  const crest = Float64Array.from({ length: columns }, (_, column) => crestAt(surface, range, (column + 0.5) * scale))
  const top = Math.max(0, Math.floor(Math.min(...crest) / scale) - 2)
  // Nearer ranges hide what is far below the foot.
  const bottom = Math.ceil(Math.min(height, (range.base + 0.12) * height) / scale)
  const rows = Math.max(1, bottom - top)
  const canvas = createCanvas(columns, rows)
  const image = canvas.getContext("2d").createImageData(columns, rows)
  const ramp = new Ramp([colors.shaded, colors.middle, colors.lit])
  const { octaves, relief: strength } = shapes[range.terrain]
  const reach = range.rise * side
  const epsilon = 0.006
  const toSun = range.sky.sunX < 0.5 ? -1 : 1
  for (let column = 0; column < columns; column++) {
    const x = (column + 0.5) * scale / side
    for (let row = 0; row < rows; row++) {
      const below = (row + top + 0.5) * scale - crest[column]!
      if (below < -2 * scale) continue
      const down = Math.max(0, below) / side
      const here = relief(range, x, down, octaves)
      const there = relief(range, x + toSun * epsilon, down - 0.5 * epsilon, octaves)
      const light = strength * (here - there) / epsilon * 0.11 / range.frequency - 0.04
      const depth = clamp(below / reach)
      const hazy = range.fog * smoothstep(0.25, 1.15, depth) * (1 - range.nearness) * 0.85
      const snowy = range.snow ? smoothstep(0.75, 0.2, depth + 0.35 * (here - 0.5)) * 0.45 : 0
      const offset = (row * columns + column) * 4
      const color = ramp.offset(0.5 + 0.5 * Math.tanh(1.7 * (light + snowy)))
      for (let channel = 0; channel < 3; channel++) {
        const base = ramp.bytes[color + channel]!
        image.data[offset + channel] = base + (colors.haze[channel]! - base) * hazy
      }
      image.data[offset + 3] = 255
    }
  }
  canvas.getContext("2d").putImageData(image, 0, 0)
  context.drawImage(canvas, 0, top * scale, columns * scale, rows * scale)
}

const paintRim = (
  { context }: Surface,
  crest: ReadonlyArray<readonly [number, number]>,
  color: string,
  unit: number
): void => {
  context.strokeStyle = color
  context.lineWidth = 1.5 * unit
  context.lineJoin = "round"
  context.beginPath()
  for (const [x, y] of crest) context.lineTo(x, y)
  context.stroke()
}

/** Mist that lies at the foot of a range, in front of it and behind the next. */
const paintMist = (surface: Surface, range: Range, color: Rgb): void => {
  const { context, height, width } = surface
  const center = range.base * height
  const reach = height * (range.water ? 0.05 : 0.14)
  const strength = 0.5 * range.fog * (1 - range.nearness) ** 0.8
  if (strength < 0.01) return
  context.fillStyle = vertical(surface, center - reach, center + reach, [
    [0, css(color, 0)],
    [0.6, css(color, strength)],
    [1, css(color, strength * 0.4)]
  ])
  context.fillRect(0, center - reach, width, reach * 2)
}
