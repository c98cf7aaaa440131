/** Deep space that drifts by: stars before the nebula, a turning planet, now and then a shooting star. */
import { Chance } from "../chance.ts"
import { css, mix, white } from "../color.ts"
import { Noise } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { paintFarStars, paintNearStars, paintNebula, paintRings, type Planet, planetOf } from "../scenes/cosmos.ts"
import { glow, makeSurface, type Surface, tau } from "../surface.ts"
import { drawLayer, type Frames, makeLayer, makeOverlay, type Motion } from "./layers.ts"
import { makeSphere } from "./sphere.ts"

/** Drifts through deep space. */
export const cosmos: Motion = (plan, surface, seconds) => {
  const chance = new Chance(`cosmos|${plan.key}`)
  const noise = new Noise(chance)
  const nebula = makeLayer(surface, 0.006, seconds, (wide) => paintNebula(plan, wide, chance, noise))
  const far = makeLayer(surface, 0.011, seconds, (wide) => paintFarStars(plan, wide))
  const near = makeLayer(surface, 0.022, seconds, (wide) => paintNearStars(plan, wide))
  const planet = planetOf(plan, surface, chance)
  const paintPlanet = planet === null ? undefined : planetFrames(plan, surface, noise, planet)
  const overlay = makeOverlay(plan, surface, 0.5)
  return (time) => {
    for (const layer of [nebula, far, near]) drawLayer(surface, layer, time)
    paintShootingStar(plan, surface, time)
    paintPlanet?.(time)
    drawLayer(surface, overlay, time)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const planetFrames = (plan: Plan, surface: Surface, noise: Noise, planet: Planet): Frames => {
  const { light, radius, ringed, x, y } = planet
  const still = () => ({ surface: makeSurface(surface.width, surface.height), speed: 0 })
  const behind = still()
  const before = still()
  glow(behind.surface, x + light[0] * radius * 0.4, y + light[1] * radius * 0.4, radius * 2.2, plan.palette[3], 0.42)
  if (ringed) paintRings(plan, behind.surface, noise, planet, Math.PI, tau)
  if (ringed) paintRings(plan, before.surface, noise, planet, 0, Math.PI)
  const sphere = makeSphere(plan, noise, planet)
  const top = Math.max(0, Math.floor(y - radius * 2.4))
  const bottom = Math.min(surface.height, Math.ceil(y + radius * 2.4))
  return (time) => {
    drawLayer(surface, behind, time, top, bottom)
    sphere(surface, time * 0.16)
    if (ringed) drawLayer(surface, before, time, top, bottom)
  }
}

/** Seconds from one shooting star to the next. */
const interval = 2.6

const paintShootingStar = (plan: Plan, { context, height, unit, width }: Surface, time: number): void => {
  const turn = Math.floor(time / interval)
  const chance = new Chance(`shooting|${turn}|${plan.key}`)
  const start = chance.between(0.5, 1.6)
  const age = (time - turn * interval - start) / 0.7
  const from = [chance.between(0.1, 0.9) * width, chance.between(0.05, 0.5) * height] as const
  const angle = chance.between(0.3, 0.8)
  const direction = chance.happens(0.5) ? 1 : -1
  if (age < 0 || age > 1) return
  const length = 260 * unit * Math.sin(age * Math.PI)
  const headX = from[0] + direction * Math.cos(angle) * age * 520 * unit
  const headY = from[1] + Math.sin(angle) * age * 520 * unit
  const tailX = headX - direction * Math.cos(angle) * length
  const tailY = headY - Math.sin(angle) * length
  const gradient = context.createLinearGradient(headX, headY, tailX, tailY)
  const color = mix(plan.palette[5], white, 0.6)
  gradient.addColorStop(0, css(color, 0.95))
  gradient.addColorStop(1, css(color, 0))
  context.strokeStyle = gradient
  context.lineWidth = 2.2 * unit
  context.lineCap = "round"
  context.beginPath()
  context.moveTo(tailX, tailY)
  context.lineTo(headX, headY)
  context.stroke()
}
