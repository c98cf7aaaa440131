/** Abstract movement: folds of silk, or strands that follow a current. */
import { Chance } from "../chance.ts"
import { black, css, mix, white } from "../color.ts"
import { clamp, Noise, smoothstep } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { finish, makeField, type Scene, type Surface } from "../surface.ts"

/** Paints silk or strands. */
export const flow: Scene = (plan, surface) => {
  const chance = new Chance(`flow|${plan.key}`)
  const noise = new Noise(chance)
  const soft = plan.words.has(
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
  const strands = plan.words.has("hair", "wood", "wind", "ribbon", "ribbons", "swirl", "lines", "gold", "golden")
  const paint = soft === strands ? chance.happens(0.5) ? paintSilk : paintStrands : soft ? paintSilk : paintStrands
  paint(plan, surface, chance, noise)
  finish(plan, surface, 0.32)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** A cloth of noise bent by noise, lit from the upper left so that its folds shine. */
const paintSilk = ({ dark, ramp }: Plan, surface: Surface, chance: Chance, noise: Noise): void => {
  const field = makeField(surface, 460)
  const { columns, rows } = field
  const scale = chance.between(0.75, 1.15)
  const angle = chance.between(0, Math.PI)
  const cos = Math.cos(angle)
  const sin = Math.sin(angle)
  const side = Math.min(columns, rows)
  const heights = new Float32Array(columns * rows)
  const hues = new Float32Array(columns * rows)
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const x = column / side * scale
      const y = row / side * scale
      // Stretched along one direction, so that folds run rather than lie about.
      const along = (x * cos + y * sin) * 0.8
      const across = (-x * sin + y * cos) * 1.7
      const bendX = noise.octaves(along * 1.3, across * 1.3, 1, 2)
      const bendY = noise.octaves(along * 1.3 + 5.2, across * 1.3 + 1.3, 2, 2)
      const fold = noise.octaves(along + 1.5 * bendX, across + 1.5 * bendY, 3, 2, 0.35)
      const index = row * columns + column
      heights[index] = fold + 0.1 * Math.sin((fold * 5 + bendX * 3) * 4.5)
      hues[index] = clamp(0.5 + 0.62 * fold + 0.42 * bendY)
    }
  }
  const step = side / 460
  field.paint((x, y, bytes, offset) => {
    const column = Math.floor(x * columns)
    const row = Math.floor(y * rows)
    const at = (right: number, down: number) =>
      heights[
        Math.max(0, Math.min(rows - 1, row + down)) * columns + Math.max(0, Math.min(columns - 1, column + right))
      ]!
    const slopeX = (at(-1, 0) - at(1, 0)) * 70 * step
    const slopeY = (at(0, -1) - at(0, 1)) * 70 * step
    const length = Math.hypot(slopeX, slopeY, 1)
    const facing = (-0.5 * slopeX - 0.62 * slopeY + 0.6) / length
    const diffuse = clamp(facing * 0.62 + 0.4)
    const shine = clamp(facing) ** 22 * 0.6 + clamp(facing) ** 90 * 0.35
    const hue = hues[row * columns + column]!
    const color = ramp.offset(clamp((dark ? 0.05 : 0.14) + hue * 0.62 + (diffuse - 0.55) * 0.42))
    const shadow = 0.42 + 0.58 * smoothstep(0.05, 0.75, diffuse)
    for (let channel = 0; channel < 3; channel++) {
      const base = ramp.bytes[color + channel]! * shadow
      bytes[offset + channel] = base + (ramp.bytes[ramp.offset(0.97) + channel]! - base) * shine
    }
    bytes[offset + 3] = 255
  })
  surface.context.drawImage(field.canvas, 0, 0, surface.width, surface.height)
}

/** Thousands of lines along the current, the broad ones below, each with light and shadow. */
const paintStrands = (plan: Plan, surface: Surface, chance: Chance, noise: Noise): void => {
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
  const strands = Math.round(2600 * Math.max(surface.aspect, 1 / surface.aspect))
  context.lineCap = "round"
  context.lineJoin = "round"
  for (let strand = 0; strand < strands; strand++) {
    const broad = (1 - strand / strands) ** 2.2
    const x = chance.between(-0.15, width / side + 0.15)
    const y = chance.between(-0.15, height / side + 0.15)
    const points = trace(potential, x, y, chance.whole(34, 76))
    const tone = 0.5 + 0.72 * noise.octaves(x * 1.1, y * 1.1, 30, 2) + chance.between(-0.2, 0.2)
    const color = ramp.at(clamp((paper ? 0.04 : 0.22) + 0.68 * clamp(tone)))
    const thickness = (1.1 + 15 * broad * chance.next() ** 0.7) * unit
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
