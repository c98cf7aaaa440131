/** The tools of all scenes: a canvas with a unit of length, light, and fields of computed colour. */
import { type Canvas, createCanvas, type SKRSContext2D } from "@napi-rs/canvas"
import { Chance } from "./chance.ts"
import { black, css, mix, type Rgb } from "./color.ts"
import type { Plan } from "./plan.ts"

/** A full turn, in radians. */
export const tau = Math.PI * 2

/** A canvas. Scenes measure in shares of its sides and in units, so that every size shows the same picture. */
export interface Surface {
  readonly context: SKRSContext2D
  readonly canvas: Canvas
  readonly width: number
  readonly height: number
  /** A thousandth of the shorter side, in pixels. */
  readonly unit: number
  /** Width by height. */
  readonly aspect: number
}

/** Draws a picture of a plan onto an empty surface. */
export type Scene = (plan: Plan, surface: Surface) => void

/** An empty surface. */
export const makeSurface = (width: number, height: number): Surface => {
  const canvas = createCanvas(width, height)
  const context = canvas.getContext("2d")
  context.imageSmoothingEnabled = true
  context.imageSmoothingQuality = "high"
  return { context, canvas, width, height, unit: Math.min(width, height) / 1000, aspect: width / height }
}

/** Adds light around a point. */
export const glow = ({ context }: Surface, x: number, y: number, radius: number, color: Rgb, alpha: number): void => {
  const gradient = context.createRadialGradient(x, y, 0, x, y, radius)
  // The weight falls about with the square of the distance, without an edge at the end.
  for (const [offset, share] of falloff) gradient.addColorStop(offset, css(color, alpha * share))
  context.save()
  context.globalCompositeOperation = "screen"
  context.fillStyle = gradient
  context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius)
  context.restore()
}

/** A gradient from top to bottom. */
export const vertical = (
  { context }: Surface,
  top: number,
  bottom: number,
  stops: ReadonlyArray<readonly [offset: number, color: string]>
) => {
  const gradient = context.createLinearGradient(0, top, 0, bottom)
  for (const [offset, color] of stops) gradient.addColorStop(offset, color)
  return gradient
}

/** Writes one pixel of a field: red, green, blue and alpha at `offset` of `bytes`. */
export type Shader = (x: number, y: number, bytes: Uint8ClampedArray, offset: number) => void

/**
 * Computes colour by place and lays it over the whole surface. Clouds need fewer
 * points than pixels, so it has about `side` of them along the shorter side. The
 * shader's coordinates are shares of width and height.
 */
export const shade = (surface: Surface, side: number, shader: Shader): void => {
  const field = makeField(surface, side)
  field.paint(shader)
  surface.context.drawImage(field.canvas, 0, 0, surface.width, surface.height)
}

/** A field that can be drawn several times. */
export interface Field {
  readonly canvas: Canvas
  readonly columns: number
  readonly rows: number
  readonly paint: (shader: Shader) => void
}

/** A field for a surface with about `side` points along its shorter side. */
export const makeField = (surface: Surface, side: number): Field => {
  const scale = Math.max(1, Math.min(surface.width, surface.height) / side)
  const columns = Math.max(8, Math.round(surface.width / scale))
  const rows = Math.max(8, Math.round(surface.height / scale))
  const canvas = createCanvas(columns, rows)
  const context = canvas.getContext("2d")
  const image = context.createImageData(columns, rows)
  return {
    canvas,
    columns,
    rows,
    paint: (shader) => {
      let offset = 0
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          shader((column + 0.5) / columns, (row + 0.5) / rows, image.data, offset)
          offset += 4
        }
      }
      context.putImageData(image, 0, 0)
    }
  }
}

/** Darkens the corners. */
export const paintVignette = (plan: Plan, { context, height, width }: Surface, strength: number): void => {
  const inner = Math.min(width, height) * 0.42
  const outer = Math.hypot(width, height) * 0.62
  const gradient = context.createRadialGradient(width / 2, height * 0.48, inner, width / 2, height / 2, outer)
  const edge = mix(plan.palette[0], black, 0.5)
  gradient.addColorStop(0, css(edge, 0))
  gradient.addColorStop(0.5, css(edge, strength * 0.28))
  gradient.addColorStop(1, css(edge, strength))
  context.fillStyle = gradient
  context.fillRect(0, 0, width, height)
}

/** Darkens the corners and adds a grain that hides the steps of eight-bit gradients. */
export const finish = (plan: Plan, surface: Surface, vignette = 0.42): void => {
  const { context, height, width } = surface
  paintVignette(plan, surface, vignette)
  context.save()
  const pattern = context.createPattern(grain(plan.key), "repeat")
  if (pattern !== null) {
    context.globalCompositeOperation = "overlay"
    context.globalAlpha = 0.045
    context.fillStyle = pattern
    context.fillRect(0, 0, width, height)
  }
  context.restore()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const falloff = [[0, 1], [0.08, 0.78], [0.2, 0.46], [0.4, 0.18], [0.65, 0.05], [0.85, 0.01], [1, 0]] as const
const grainSide = 256

const grain = (key: string): Canvas => {
  const chance = new Chance(`grain|${key}`)
  const canvas = createCanvas(grainSide, grainSide)
  const context = canvas.getContext("2d")
  const image = context.createImageData(grainSide, grainSide)
  for (let offset = 0; offset < image.data.length; offset += 4) {
    image.data.fill(128 + chance.between(-64, 64), offset, offset + 3)
    image.data[offset + 3] = 255
  }
  context.putImageData(image, 0, 0)
  return canvas
}
