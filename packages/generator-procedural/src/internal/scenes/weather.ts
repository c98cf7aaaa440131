/** Snow and rain in front of the scene. */
import { Chance } from "../chance.ts"
import { css, white } from "../color.ts"
import type { Plan } from "../plan.ts"
import { type Surface, tau } from "../surface.ts"

/** Flakes at a time in seconds, the near ones large and blurred. */
export const paintSnowfall = (
  { key }: Plan,
  { aspect, context, height, unit, width }: Surface,
  time: number
): void => {
  const chance = new Chance(`snow|${key}`)
  const count = Math.round(420 * Math.max(aspect, 1 / aspect))
  for (let flake = 0; flake < count; flake++) {
    const nearness = chance.next() ** 2
    context.fillStyle = css(white, 0.75 - 0.45 * nearness)
    context.beginPath()
    const x = wrapped(chance.next() + 0.02 * Math.sin(time * 0.9 + flake) - 0.02 * Math.sin(flake))
    const y = wrapped(chance.next() + time * (0.07 + 0.2 * nearness))
    context.arc(x * width, y * height, (0.8 + 4.5 * nearness) * unit, 0, tau)
    context.fill()
  }
}

/** Slanting streaks at a time in seconds. */
export const paintRain = (
  { key, palette }: Plan,
  { aspect, context, height, unit, width }: Surface,
  time: number
): void => {
  const chance = new Chance(`rain|${key}`)
  const count = Math.round(460 * Math.max(aspect, 1 / aspect))
  context.lineCap = "round"
  for (let drop = 0; drop < count; drop++) {
    const nearness = chance.between(0.25, 1)
    const x = wrapped(chance.between(-0.05, 1) + time * 0.09 * nearness) * width
    const y = wrapped(chance.between(-0.05, 1) + time * 1.3 * nearness) * height
    context.strokeStyle = css(palette[5], 0.17 * nearness)
    context.lineWidth = 1.3 * unit * nearness
    context.beginPath()
    context.moveTo(x, y)
    context.lineTo(x + 5 * unit * nearness, y + 40 * unit * nearness)
    context.stroke()
  }
}

/** Moves a place beyond one edge of the picture to the other side. Both are a little outside of the picture. */
export const wrapped = (share: number): number => share - 1.1 * Math.floor((share + 0.05) / 1.1)
