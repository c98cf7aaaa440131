/** A city at the water or on a wet street: towers with lit windows under a large moon, mirrored. */
import { Chance } from "../chance.ts"
import { black, css, mix, type Rgb, white } from "../color.ts"
import { Noise, smoothstep } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { paintStars } from "../stars.ts"
import { finish, glow, makeSurface, type Scene, shade, type Surface, tau, vertical } from "../surface.ts"
import { type Block, makeBlocks, paintBlock } from "./towers.ts"
import { paintRain, wrapped } from "./weather.ts"

/** Paints a city at night or dusk. */
export const city: Scene = (plan, surface) => {
  const chance = new Chance(`city|${plan.key}`)
  const noise = new Noise(chance)
  const { ground, moon } = siteOf(surface, chance)
  const above = makeSurface(surface.width, surface.height)
  paintClearSky(plan, above, ground, moon)
  paintHaze(plan, above, noise, ground)
  for (let layer = 0; layer < layers; layer++) paintLayer(plan, above, chance, layer / (layers - 1), ground, moon.x)
  surface.context.drawImage(above.canvas, 0, 0)
  paintMirror(plan, surface, above, noise, ground)
  paintQuay(plan, surface, chance, ground)
  paintShower(plan, surface)
  finish(plan, surface, 0.5)
}

/** Number of rows of towers. */
export const layers = 5

/** Where the light of a city is, in pixels. */
export interface Moon {
  readonly x: number
  readonly y: number
  readonly radius: number
}

/** Decides where the towers stand, as a row of pixels, and where the moon is. */
export const siteOf = (surface: Surface, chance: Chance): { readonly ground: number; readonly moon: Moon } => {
  const ground = Math.round(surface.height * chance.between(0.7, 0.77))
  const moon = {
    x: surface.width * (chance.happens(0.5) ? chance.between(0.26, 0.4) : chance.between(0.6, 0.74)),
    y: ground * chance.between(0.27, 0.36),
    radius: surface.unit * chance.between(85, 130)
  }
  return { ground, moon }
}

/** Paints the rain that the prompt asks for, at a time in seconds. */
export const paintShower = (plan: Plan, surface: Surface, time = 0): void => {
  if (plan.words.has("rain", "rainy", "storm", "cyberpunk", "wet")) paintRain(plan, surface, time)
}

/** Paints the sky without its haze. */
export const paintClearSky = (plan: Plan, surface: Surface, ground: number, moon: Moon): void => {
  const { context, height, width } = surface
  const [c0, c1, c2, c3, c4, c5] = plan.palette
  context.fillStyle = vertical(surface, 0, ground, [
    [0, css(mix(c0, black, 0.35))],
    [0.4, css(mix(c0, c1, 0.8))],
    [0.75, css(c2)],
    [1, css(mix(c2, c3, 0.75))]
  ])
  context.fillRect(0, 0, width, height)
  paintStars(surface, { key: `city|${plan.key}`, count: 220, colors: [c5, c4], alpha: 0.75, reach: 0.5 })
  glow(surface, moon.x, moon.y, moon.radius * 5, mix(c3, c4, 0.35), 0.55)
  context.fillStyle = vertical(surface, moon.y - moon.radius, moon.y + moon.radius, [
    [0, css(mix(c4, c5, 0.75))],
    [1, css(mix(c3, c4, 0.3))]
  ])
  context.beginPath()
  context.arc(moon.x, moon.y, moon.radius, 0, tau)
  context.fill()
}

/** Paints bands of haze over the sky. */
export const paintHaze = ({ palette }: Plan, surface: Surface, noise: Noise, ground: number): void => {
  const { height } = surface
  const haze = mix(palette[2], palette[3], 0.4)
  shade(surface, 260, (x, y, bytes, offset) => {
    const cloud = noise.octaves(x * surface.aspect * 2.2, y * 6.5, 0, 5, 0.55)
    const cover = smoothstep(0.05, 0.55, cloud + 0.14 - Math.abs(y * height / ground - 0.55) * 0.6)
    bytes[offset] = haze[0]
    bytes[offset + 1] = haze[1]
    bytes[offset + 2] = haze[2]
    bytes[offset + 3] = cover * 150
  })
}

/** Paints one row of towers and the haze in front of it. */
export const paintLayer = (
  plan: Plan,
  surface: Surface,
  chance: Chance,
  nearness: number,
  ground: number,
  lightX: number
): ReadonlyArray<Block> => {
  const { context, height, width } = surface
  const [c0, , c2, c3] = plan.palette
  const color = mix(mix(c2, c3, 0.3), mix(c0, black, 0.5), 0.2 + 0.8 * nearness ** 0.8)
  const blocks = makeBlocks(chance, surface, nearness, ground)
  for (const block of blocks) {
    paintBlock(surface, block, { palette: plan.palette, color, nearness, lightX, ground })
  }
  const reach = height * 0.26
  context.fillStyle = vertical(surface, ground - reach, ground, [
    [0, css(c3, 0)],
    [1, css(mix(c2, c3, 0.65), 0.42 * (1 - nearness * 0.85))]
  ])
  context.fillRect(0, ground - reach, width, reach)
  return blocks
}

/** Paints the mirror of the city on the ground, with waves at a time in seconds. */
export const paintMirror = (
  plan: Plan,
  surface: Surface,
  above: Surface,
  noise: Noise,
  ground: number,
  time = 0
): void => {
  const { context, height, unit, width } = surface
  const [c0, c1] = plan.palette
  const strip = Math.max(1, Math.round(unit * 1.4))
  const margin = Math.ceil(26 * unit)
  for (let y = ground; y < height; y += strip) {
    const depth = (y - ground) / (height - ground)
    const shift = (0.6 + 12 * depth) * unit * 1.5 * noise.at(y / unit * 0.07, 0, 1 + 0.8 * time)
    const source = Math.max(0, ground - (y - ground) * 1.3 - strip)
    context.drawImage(above.canvas, 0, source, width, strip, shift - margin, y, width + 2 * margin, strip)
  }
  context.fillStyle = vertical(surface, ground, height, [
    [0, css(mix(c0, c1, 0.4), 0.22)],
    [1, css(mix(c0, black, 0.5), 0.86)]
  ])
  context.fillRect(0, ground, width, height - ground)
}

/** Paints the edge of the street and the lamps of cars on it, with their light on the wet ground. */
export const paintQuay = (plan: Plan, surface: Surface, chance: Chance, ground: number, time = 0): void => {
  const { context, unit, width } = surface
  const [c0, , , , , c5] = plan.palette
  context.fillStyle = css(mix(c0, black, 0.55))
  context.fillRect(0, ground - 2 * unit, width, 5 * unit)
  const headlight = mix(c5, white, 0.5)
  const red: Rgb = [255, 70, 70]
  for (let car = 0; car < 30; car++) {
    const start = chance.next()
    const towards = chance.happens(0.5)
    const x = wrapped(start + time * (towards ? 0.05 : -0.06) * (0.7 + car % 5 * 0.15)) * width
    const color = towards ? headlight : red
    const length = chance.between(70, 170) * unit
    glow(surface, x, ground + 1.5 * unit, 15 * unit, color, 0.85)
    context.fillStyle = css(color, 0.9)
    context.fillRect(x - 2.5 * unit, ground + 0.5 * unit, 5 * unit, 2 * unit)
    context.fillStyle = vertical(surface, ground, ground + length, [[0, css(color, 0.3)], [1, css(color, 0)]])
    context.fillRect(x - 2.5 * unit, ground + 3 * unit, 5 * unit, length)
  }
}
