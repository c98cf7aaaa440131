/** Water at the feet of the land, which it mirrors. */
import { Chance } from "../chance.ts"
import { css, mix, white } from "../color.ts"
import { clamp, type Noise } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { type Surface, tau, vertical } from "../surface.ts"
import type { Sky } from "./sky.ts"

/** Covers the surface below the horizon with a mirror of `land`, with waves at a time in seconds. */
export const paintWater = (plan: Plan, surface: Surface, land: Surface, sky: Sky, noise: Noise, time = 0): void => {
  const { context, height, width } = surface
  const [c0, c1, , , c4, c5] = plan.palette
  const shore = Math.round(height * sky.bottom)
  paintMirror(surface, land, shore, noise, time)
  context.fillStyle = vertical(surface, shore, height, [
    [0, css(mix(c4, c5, 0.4), 0.16)],
    [0.22, css(c1, 0.12)],
    [1, css(c0, 0.62)]
  ])
  context.fillRect(0, shore, width, height - shore)
  paintShore(plan, surface, shore)
  paintGlints(plan, surface, sky, shore, time)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Line by line, each moved sideways by waves that grow towards the viewer. */
const paintMirror = (
  { context, height, unit, width }: Surface,
  land: Surface,
  shore: number,
  noise: Noise,
  time: number
): void => {
  const strip = Math.max(1, Math.round(unit * 1.4))
  const margin = Math.ceil(34 * unit)
  for (let y = shore; y < height; y += strip) {
    const depth = (y - shore) / (height - shore)
    const wave = noise.at(y / unit * 0.05 / (0.25 + depth), 3, 1 + 0.7 * time) +
      0.5 * Math.sin(y / unit * 0.5 / (0.35 + 2 * depth) - 2.4 * time)
    const shift = (0.8 + 19 * depth ** 1.3) * unit * wave
    const source = clamp(shore - (y - shore) * 1.12 - strip, 0, shore - strip)
    context.drawImage(land.canvas, 0, source, width, strip, shift - margin, y, width + 2 * margin, strip)
  }
}

const paintShore = ({ palette }: Plan, surface: Surface, shore: number): void => {
  const { context, unit, width } = surface
  const color = mix(palette[4], palette[5], 0.5)
  const reach = 16 * unit
  context.fillStyle = vertical(surface, shore - reach, shore + reach, [
    [0, css(color, 0)],
    [0.5, css(color, 0.3)],
    [1, css(color, 0)]
  ])
  context.fillRect(0, shore - reach, width, 2 * reach)
}

const paintGlints = (plan: Plan, surface: Surface, sky: Sky, shore: number, time: number): void => {
  const { context, height, unit, width } = surface
  const chance = new Chance(`glints|${plan.key}`)
  const color = mix(plan.palette[5], white, 0.4)
  for (let glint = 0; glint < 320; glint++) {
    const depth = chance.next() ** 1.6
    const x = width * sky.sunX + chance.normal() * (14 + 95 * depth) * unit
    const y = shore + (0.01 + 0.99 * depth) * (height - shore)
    const alpha = chance.next() * (1 - depth * 0.7) * 0.55 * (0.5 + 0.5 * Math.cos(time * (1.6 + 0.5 * (glint % 6))))
    context.fillStyle = css(color, alpha)
    context.beginPath()
    context.ellipse(x, y, (3 + 24 * depth * chance.next()) * unit, (0.6 + 1.3 * depth) * unit, 0, 0, tau)
    context.fill()
  }
}
