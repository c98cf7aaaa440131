/** Snow and rain in front of the scene. */
import { Chance } from "../chance.ts"
import { css, white } from "../color.ts"
import type { Plan } from "../plan.ts"
import { type Surface, tau } from "../surface.ts"

/** Flakes, the near ones large and blurred. */
export const paintSnowfall = ({ key }: Plan, { aspect, context, height, unit, width }: Surface): void => {
  const chance = new Chance(`snow|${key}`)
  const count = Math.round(420 * Math.max(aspect, 1 / aspect))
  for (let flake = 0; flake < count; flake++) {
    const nearness = chance.next() ** 2
    context.fillStyle = css(white, 0.75 - 0.45 * nearness)
    context.beginPath()
    context.arc(chance.next() * width, chance.next() * height, (0.8 + 4.5 * nearness) * unit, 0, tau)
    context.fill()
  }
}

/** Slanting streaks. */
export const paintRain = ({ key, palette }: Plan, { aspect, context, height, unit, width }: Surface): void => {
  const chance = new Chance(`rain|${key}`)
  const count = Math.round(460 * Math.max(aspect, 1 / aspect))
  context.lineCap = "round"
  for (let drop = 0; drop < count; drop++) {
    const nearness = chance.between(0.25, 1)
    const x = chance.between(-0.05, 1) * width
    const y = chance.between(-0.05, 1) * height
    context.strokeStyle = css(palette[5], 0.17 * nearness)
    context.lineWidth = 1.3 * unit * nearness
    context.beginPath()
    context.moveTo(x, y)
    context.lineTo(x + 5 * unit * nearness, y + 40 * unit * nearness)
    context.stroke()
  }
}
