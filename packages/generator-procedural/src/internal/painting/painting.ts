/** Paints a guide in brush strokes, in the colours of the prompt. */
import { Chance } from "../chance.ts"
import { css, mix, type Rgb } from "../color.ts"
import { clamp, Noise, smoothstep } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { finish, type Scene, type Surface } from "../surface.ts"
import { contoursOf } from "./contours.ts"
import { blurred, cellAt, colorAt, type Guide } from "./guide.ts"
import { type Ground, pathOf, type Point } from "./path.ts"

/** Creates a scene that paints the guide: broad strokes first, fine ones only where the guide has detail. */
export const painting = (guide: Guide): Scene => (plan, surface) => {
  const { context, height, width } = surface
  const tinted = tint(guide, plan)
  const contours = contoursOf(guide)
  const chance = new Chance(`painting|${plan.key}`)
  const noise = new Noise(chance)
  const side = Math.min(width, height)
  prime(tinted, surface)
  context.lineCap = "round"
  context.lineJoin = "round"
  for (const brush of brushes) {
    // A brush mixes the colours of the area that it covers.
    const colors = blurred(tinted, Math.round(brush.width * 0.3 * Math.min(guide.columns, guide.rows)))
    const ground: Ground = { guide: colors, contours, noise, width: width / side, height: height / side }
    for (const place of places(ground, brush, chance)) stroke(surface, ground, brush, place, chance)
  }
  finish(plan, surface, 0.24)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Lengths are shares of the picture's shorter side. */
interface Brush {
  readonly width: number
  /** From one stroke to the next. */
  readonly spacing: number
  /** Amount of detail below which no stroke is painted, and above which every stroke is. */
  readonly detail: readonly [none: number, all: number]
  readonly steps: number
  readonly alpha: number
  /** The hairs of the brush are visible. */
  readonly hairs: boolean
}

const brushes: ReadonlyArray<Brush> = [
  { width: 0.07, spacing: 0.034, detail: [-1, 0], steps: 7, alpha: 0.96, hairs: true },
  { width: 0.032, spacing: 0.017, detail: [-0.1, 0.1], steps: 7, alpha: 0.92, hairs: true },
  { width: 0.014, spacing: 0.0085, detail: [0.04, 0.2], steps: 8, alpha: 0.9, hairs: false },
  { width: 0.0065, spacing: 0.005, detail: [0.12, 0.4], steps: 8, alpha: 0.88, hairs: false }
]

/** The guide with its light kept and its colours moved towards the palette. */
const tint = ({ colors, columns, rows }: Guide, { dark, ramp }: Plan): Guide => {
  const tinted = new Float32Array(colors.length)
  for (let offset = 0; offset < colors.length; offset += 3) {
    const color: Rgb = [colors[offset]!, colors[offset + 1]!, colors[offset + 2]!]
    const light = (0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2]) / 255
    tinted.set(mix(color, ramp.at(dark ? light * 0.8 : light), 0.6), offset)
  }
  return { columns, rows, colors: tinted }
}

/** Covers the canvas, so that nothing of it shows between strokes. */
const prime = (guide: Guide, { context, height, width }: Surface): void => {
  const vague = blurred(guide, 40)
  const gradient = context.createLinearGradient(0, 0, 0, height)
  gradient.addColorStop(0, css(colorAt(vague, 0.5, 0.15)))
  gradient.addColorStop(1, css(colorAt(vague, 0.5, 0.85)))
  context.fillStyle = gradient
  context.fillRect(0, 0, width, height)
}

/** A place in shares of width and height. */
interface Place {
  readonly x: number
  readonly y: number
}

/** Where strokes begin: near a grid, and in no order. */
const places = ({ height, width }: Ground, { spacing }: Brush, chance: Chance): ReadonlyArray<Place> => {
  const columns = Math.ceil(width / spacing)
  const rows = Math.ceil(height / spacing)
  const found: Array<Place> = []
  for (let row = 0; row <= rows; row++) {
    for (let column = 0; column <= columns; column++) {
      const x = (column + chance.between(-0.6, 0.6)) / columns
      found.push({ x, y: (row + chance.between(-0.6, 0.6)) / rows })
    }
  }
  return chance.shuffled(found)
}

const stroke = (surface: Surface, ground: Ground, brush: Brush, place: Place, chance: Chance): void => {
  const { contours, guide } = ground
  const [none, all] = brush.detail
  // A random number is drawn at every place, so that a change of the guide here does not move strokes elsewhere.
  const [luck, light, pressure] = [chance.next(), chance.normal(), chance.between(0.7, 1.15)]
  if (luck > smoothstep(none, all, contours.detail[cellAt(contours, place.x, place.y)]!)) return
  const path = pathOf(ground, place, brush.width * 0.42, brush.steps)
  const color = lighter(colorAt(guide, place.x, place.y), light * 5)
  const thickness = brush.width * pressure * Math.min(surface.width, surface.height)
  line(surface, path, css(color, brush.alpha), thickness)
  if (!brush.hairs) return
  line(surface, path, css(lighter(color, 14), 0.3), thickness * 0.22, -thickness * 0.24)
  line(surface, path, css(lighter(color, -12), 0.3), thickness * 0.22, thickness * 0.27)
}

/** Draws a line along a path, or beside it. */
const line = (
  { context, height, width }: Surface,
  path: ReadonlyArray<Point>,
  style: string,
  thickness: number,
  beside = 0
): void => {
  context.strokeStyle = style
  context.lineWidth = thickness
  context.beginPath()
  for (const { alongX, alongY, x, y } of path) {
    context.lineTo(x * width - alongY * beside, y * height + alongX * beside)
  }
  context.stroke()
}

const lighter = ([red, green, blue]: Rgb, by: number): Rgb => [
  clamp(red + by, 0, 255),
  clamp(green + by, 0, 255),
  clamp(blue + by, 0, 255)
]
