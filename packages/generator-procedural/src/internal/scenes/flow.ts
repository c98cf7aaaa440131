/** Abstract movement: folds of silk, or strands that follow a current. */
import { Chance } from "../chance.ts"
import { black, css, mix, type Rgb, white } from "../color.ts"
import { clamp, Noise, smoothstep } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { type Field, finish, makeField, type Scene, type Surface } from "../surface.ts"

/** Paints silk or strands. */
export const flow: Scene = (plan, surface) => {
  const chance = new Chance(`flow|${plan.key}`)
  const noise = new Noise(chance)
  if (isSilk(plan, chance)) paintSilk(plan, surface, chance, noise)
  else paintStrands(plan, surface, chance, noise)
  finish(plan, surface, 0.32)
}

/** Decides between silk and strands, by the prompt or else by chance. */
export const isSilk = ({ words }: Plan, chance: Chance): boolean => {
  const soft = words.has(
    "silk",
    "smoke",
    "fluid",
    "liquid",
    "fabric",
    "marble",
    "dream",
    "dreamy",
    "soft",
    "energy"
  )
  const strands = words.has("hair", "wood", "wind", "ribbon", "ribbons", "swirl", "lines")
  return soft === strands ? chance.happens(0.5) : soft
}

/** How a cloth lies. */
export interface Cloth {
  readonly scale: number
  /** Direction of its folds, in radians. */
  readonly angle: number
}

/** Decides how a cloth lies. */
export const clothOf = (chance: Chance): Cloth => ({
  scale: chance.between(0.75, 1.15),
  angle: chance.between(0, Math.PI)
})

/** The folds of a cloth and the noise that bends them, for each point of a field. */
export interface Folds {
  readonly fold: Float32Array
  readonly bendX: Float32Array
  readonly bendY: Float32Array
}

/** Computes the folds of a cloth. Each `layer` of the noise gives other folds. */
export const foldsOf = (noise: Noise, { angle, scale }: Cloth, { columns, rows }: Field, layer: number): Folds => {
  const cos = Math.cos(angle)
  const sin = Math.sin(angle)
  const side = Math.min(columns, rows)
  const [fold, bendX, bendY] = [0, 1, 2].map(() => new Float32Array(columns * rows)) as [
    Float32Array,
    Float32Array,
    Float32Array
  ]
  for (let index = 0; index < fold.length; index++) {
    const x = index % columns / side * scale
    const y = Math.floor(index / columns) / side * scale
    // Stretched along one direction, so that folds run rather than lie about.
    const along = (x * cos + y * sin) * 0.8
    const across = (-x * sin + y * cos) * 1.7
    const right = noise.octaves(along * 1.3, across * 1.3, 1 + layer, 2)
    const down = noise.octaves(along * 1.3 + 5.2, across * 1.3 + 1.3, 2 + layer, 2)
    fold[index] = noise.octaves(along + 1.5 * right, across + 1.5 * down, 3 + layer, 2, 0.35)
    bendX[index] = right
    bendY[index] = down
  }
  return { fold, bendX, bendY }
}

/** Lights a cloth from the upper left so that its folds shine, with ripples at a phase in radians. */
export const shadeCloth = ({ dark, ramp }: Plan, field: Field, { bendX, bendY, fold }: Folds, phase: number): void => {
  const { columns, rows } = field
  const heights = fold.map((height, index) => height + 0.1 * Math.sin((height * 5 + bendX[index]! * 3) * 4.5 + phase))
  const step = Math.min(columns, rows) / 460
  const brightest = ramp.offset(0.97)
  field.paint((x, y, bytes, offset) => {
    const column = Math.floor(x * columns)
    const row = Math.floor(y * rows)
    const index = row * columns + column
    const left = heights[column > 0 ? index - 1 : index]!
    const right = heights[column < columns - 1 ? index + 1 : index]!
    const above = heights[row > 0 ? index - columns : index]!
    const below = heights[row < rows - 1 ? index + columns : index]!
    const slopeX = (left - right) * 70 * step
    const slopeY = (above - below) * 70 * step
    const length = Math.hypot(slopeX, slopeY, 1)
    const facing = (-0.5 * slopeX - 0.62 * slopeY + 0.6) / length
    const diffuse = clamp(facing * 0.62 + 0.4)
    const shine = clamp(facing) ** 22 * 0.6 + clamp(facing) ** 90 * 0.35
    const hue = clamp(0.5 + 0.62 * fold[index]! + 0.42 * bendY[index]!)
    const color = ramp.offset(clamp((dark ? 0.05 : 0.14) + hue * 0.62 + (diffuse - 0.55) * 0.42))
    const shadow = 0.42 + 0.58 * smoothstep(0.05, 0.75, diffuse)
    for (let channel = 0; channel < 3; channel++) {
      const base = ramp.bytes[color + channel]! * shadow
      bytes[offset + channel] = base + (ramp.bytes[brightest + channel]! - base) * shine
    }
    bytes[offset + 3] = 255
  })
}

/** A line along the current. */
export interface Strand {
  /** Shares of the shorter side. */
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
  readonly color: Rgb
  /** Pixels. */
  readonly thickness: number
}

/** Paints thousands of lines along the current, the broad ones below, each with light and shadow. Returns them. */
export const paintStrands = (
  plan: Plan,
  surface: Surface,
  chance: Chance,
  noise: Noise
): ReadonlyArray<Strand> => {
  const { context, height, unit, width } = surface
  const { dark, palette, ramp } = plan
  const [c0, , , , c4, c5] = palette
  const paper = !dark && chance.happens(0.5)
  context.fillStyle = css(paper ? mix(c4, c5, 0.3) : mix(c0, black, 0.35))
  context.fillRect(0, 0, width, height)
  const side = Math.min(width, height)
  const scale = chance.between(0.75, 1.25)
  const layer = chance.between(0, 20)
  const potential = (x: number, y: number) => noise.octaves(x * scale, y * scale, layer, 2, 0.42)
  const count = Math.round(2600 * Math.max(surface.aspect, 1 / surface.aspect))
  const strands: Array<Strand> = []
  context.lineCap = "round"
  context.lineJoin = "round"
  for (let strand = 0; strand < count; strand++) {
    const broad = (1 - strand / count) ** 2.2
    const x = chance.between(-0.15, width / side + 0.15)
    const y = chance.between(-0.15, height / side + 0.15)
    const points = trace(potential, x, y, chance.whole(34, 76))
    const tone = 0.5 + 0.72 * noise.octaves(x * 1.1, y * 1.1, 30, 2) + chance.between(-0.2, 0.2)
    const color = ramp.at(clamp((paper ? 0.04 : 0.22) + 0.68 * clamp(tone)))
    const thickness = (1.1 + 15 * broad * chance.next() ** 0.7) * unit
    paintStrand(plan, surface, { points, color, thickness }, paper)
    strands.push({ points, color, thickness })
  }
  return strands
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A cloth of noise bent by noise. */
const paintSilk = (plan: Plan, surface: Surface, chance: Chance, noise: Noise): void => {
  const field = makeField(surface, 460)
  shadeCloth(plan, field, foldsOf(noise, clothOf(chance), field, 0), 0)
  surface.context.drawImage(field.canvas, 0, 0, surface.width, surface.height)
}

/** Paints one line; a broad one has a shadow and a shine. */
const paintStrand = (
  { palette }: Plan,
  { context, height, unit, width }: Surface,
  { color, points, thickness }: Strand,
  paper: boolean
): void => {
  const [c0, , , , , c5] = palette
  const side = Math.min(width, height)
  const line = (dx: number, dy: number) => {
    context.beginPath()
    for (const [px, py] of points) context.lineTo(px * side + dx, py * side + dy)
    context.stroke()
  }
  if (thickness > 3.5 * unit) {
    // A shadow with round ends would show beyond the strand.
    context.lineCap = "butt"
    context.strokeStyle = css(c0, 0.2)
    context.lineWidth = thickness * 1.5
    line(2.2 * unit, 3.6 * unit)
    context.lineCap = "round"
  }
  context.strokeStyle = css(color, thickness > 3.5 * unit ? 0.96 : 0.72)
  context.lineWidth = thickness
  line(0, 0)
  if (thickness > 3.5 * unit) {
    context.strokeStyle = css(mix(color, paper ? white : c5, 0.55), 0.42)
    context.lineWidth = thickness * 0.16
    line(-thickness * 0.17, -thickness * 0.21)
  }
}

/** Follows the current from a point. Lengths are shares of the shorter side. */
const trace = (
  potential: (x: number, y: number) => number,
  startX: number,
  startY: number,
  steps: number
): ReadonlyArray<readonly [number, number]> => {
  const epsilon = 0.004
  const stride = 0.0075
  let x = startX
  let y = startY
  const points: Array<readonly [number, number]> = [[x, y]]
  for (let step = 0; step < steps; step++) {
    const here = potential(x, y)
    const alongX = potential(x, y + epsilon) - here
    const alongY = here - potential(x + epsilon, y)
    const length = Math.hypot(alongX, alongY) + 1e-9
    x += alongX / length * stride
    y += alongY / length * stride
    points.push([x, y])
  }
  return points
}
