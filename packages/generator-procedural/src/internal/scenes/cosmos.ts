/** Deep space: a band of nebula, stars and a lit planet, perhaps with rings. */
import { createCanvas } from "@napi-rs/canvas"
import { Chance } from "../chance.ts"
import { black, css, mix, type Rgb, white } from "../color.ts"
import { clamp, Noise, smoothstep } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { paintStars } from "../stars.ts"
import { finish, glow, type Scene, shade, type Surface, tau } from "../surface.ts"

/** Paints deep space. */
export const cosmos: Scene = (plan, surface) => {
  const chance = new Chance(`cosmos|${plan.key}`)
  const noise = new Noise(chance)
  paintNebula(plan, surface, chance, noise)
  paintFarStars(plan, surface)
  paintNearStars(plan, surface)
  const planet = planetOf(plan, surface, chance)
  if (planet !== null) paintPlanet(plan, surface, noise, planet)
  finish(plan, surface, 0.5)
}

/** Paints many faint stars. */
export const paintFarStars = ({ key, palette }: Plan, surface: Surface): void => {
  const [, , , c3, c4, c5] = palette
  paintStars(surface, {
    key: `far|${key}`,
    count: Math.round(1100 * Math.max(surface.aspect, 1 / surface.aspect)),
    colors: [c5, mix(c4, c3, 0.3)],
    alpha: 0.7
  })
}

/** Paints some bright stars. */
export const paintNearStars = ({ key, palette }: Plan, surface: Surface): void => {
  paintStars(surface, {
    key: `near|${key}`,
    count: Math.round(170 * Math.max(surface.aspect, 1 / surface.aspect)),
    colors: [white, mix(palette[4], palette[5], 0.5)],
    alpha: 1
  })
}

/** Noise bent by noise, bright along a band, cut by lanes of dust. */
export const paintNebula = ({ palette, ramp }: Plan, surface: Surface, chance: Chance, noise: Noise): void => {
  const { aspect } = surface
  const angle = aspect < 1 ? chance.between(0.5, 1.1) : chance.between(-0.65, 0.65)
  const cos = Math.cos(angle)
  const sin = Math.sin(angle)
  const breadth = chance.between(0.035, 0.06) * Math.max(1, 1 / aspect)
  const deep = mix(palette[0], black, 0.6)
  // Measured in shorter sides, so that portraits are not squeezed.
  const spanX = Math.max(1, aspect)
  const spanY = Math.max(1, 1 / aspect)
  shade(surface, 400, (x, y, bytes, offset) => {
    const fromX = (x - 0.5) * spanX
    const fromY = (y - 0.5) * spanY
    const along = fromX * cos + fromY * sin
    const across = -fromX * sin + fromY * cos
    const bendX = noise.octaves(along * 2.1 + 5, across * 2.1, 0, 3)
    const bendY = noise.octaves(along * 2.1 - 7, across * 2.1 + 3, 0, 3)
    const gas = noise.octaves(along * 2.1 + bendX * 1.8, across * 2.6 + bendY * 1.8, 4, 6, 0.56)
    const dust = noise.octaves(along * 3.4 + bendY * 1.3, across * 4.8 + bendX, 9, 4, 0.55)
    const band = Math.exp(-(across * across) / breadth)
    const amount = clamp(band * (0.46 + 1.25 * gas) + 0.2 * (gas + 0.28) - smoothstep(0.02, 0.5, dust) * band * 0.6)
    const hue = clamp(0.34 + 0.62 * bendX + 0.45 * amount)
    const color = ramp.offset(0.16 + hue * 0.42 + amount * 0.55)
    const share = Math.min(1, amount ** 0.75 * 1.45)
    for (let channel = 0; channel < 3; channel++) {
      bytes[offset + channel] = deep[channel]! + (ramp.bytes[color + channel]! - deep[channel]!) * share
    }
    bytes[offset + 3] = 255
  })
}

/** A planet. Lengths are pixels. */
export interface Planet {
  readonly x: number
  readonly y: number
  readonly radius: number
  readonly tilt: number
  readonly ringed: boolean
  /** Striped by winds, or with continents. */
  readonly gas: boolean
  /** Towards the light; a unit vector. */
  readonly light: readonly [number, number, number]
}

/** Decides whether a picture shows a planet, and how it looks. */
export const planetOf = ({ words }: Plan, { height, width }: Surface, chance: Chance): Planet | null => {
  const named = words.has("planet", "planets", "saturn", "jupiter", "moon", "orbit", "alien", "mars", "world")
  const shown = chance.happens(0.72)
  const direction = chance.pick([-2.5, -0.7] as const) + chance.between(-0.3, 0.3)
  const planet: Planet = {
    x: width * (chance.happens(0.5) ? chance.between(0.27, 0.33) : chance.between(0.67, 0.73)),
    y: height * chance.between(0.38, 0.64),
    radius: Math.min(width, height) * chance.between(0.15, 0.25),
    tilt: chance.between(-0.5, 0.5),
    ringed: chance.happens(0.6) || words.has("saturn", "ring", "rings"),
    gas: chance.happens(0.6) || words.has("saturn", "jupiter"),
    light: [Math.cos(direction) * 0.83, Math.sin(direction) * 0.83, 0.56]
  }
  return (shown && !words.has("galaxy", "nebula")) || named ? planet : null
}

/** Returns the lightness of the ground or the clouds at a place of a sphere of radius 1, about -0.9 to 0.9. */
export const textureAt = (noise: Noise, gas: boolean, east: number, north: number, near: number): number =>
  gas
    ? noise.octaves(north * 4.4 + 0.25 * noise.octaves(east * 2.2, north * 5, near * 2.2, 3), 3.3, 1.7, 4) * 0.95 +
      0.12 * noise.at(east * 5, north * 15, near * 5)
    : noise.octaves(east * 1.9, north * 1.9, near * 1.9, 6, 0.56)

/** Paints half of the rings: the far one goes behind the planet, the near one in front. */
export const paintRings = (
  { palette }: Plan,
  { context }: Surface,
  noise: Noise,
  { radius, tilt, x, y }: Planet,
  from: number,
  to: number
): void => {
  context.save()
  context.translate(x, y)
  context.rotate(tilt - 0.25)
  context.scale(1, 0.24)
  const count = 90
  context.lineWidth = radius * 1.02 / count
  for (let ring = 0; ring < count; ring++) {
    const share = ring / count
    const gap = smoothstep(0.02, 0.07, Math.abs(share - 0.62))
    const dense = clamp(0.26 + 0.75 * noise.at(share * 17, 4, 2) + 0.3 * noise.at(share * 60, 1, 8))
    const edge = smoothstep(0, 0.08, share) * smoothstep(1, 0.85, share)
    context.strokeStyle = css(
      mix(palette[3], palette[5], clamp(0.5 + noise.at(share * 9, 1, 1))),
      dense * gap * edge * 0.85
    )
    context.beginPath()
    context.arc(0, 0, radius * (1.32 + 0.95 * share), from, to)
    context.stroke()
  }
  context.restore()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const paintPlanet = (plan: Plan, surface: Surface, noise: Noise, planet: Planet): void => {
  const { context } = surface
  const { light, radius, x, y } = planet
  glow(surface, x + light[0] * radius * 0.4, y + light[1] * radius * 0.4, radius * 2.2, plan.palette[3], 0.42)
  if (planet.ringed) paintRings(plan, surface, noise, planet, Math.PI, tau)
  const side = Math.ceil(radius * 2) + 4
  const canvas = createCanvas(side, side)
  const image = canvas.getContext("2d").createImageData(side, side)
  const air = mix(plan.palette[4], plan.palette[5], 0.3)
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const px = (column + 0.5 - side / 2) / radius
      const py = (row + 0.5 - side / 2) / radius
      shadeSphere(plan, noise, planet, air, px, py, image.data, (row * side + column) * 4)
    }
  }
  canvas.getContext("2d").putImageData(image, 0, 0)
  context.drawImage(canvas, x - side / 2, y - side / 2)
  if (planet.ringed) paintRings(plan, surface, noise, planet, 0, Math.PI)
}

/** One pixel of a sphere of radius 1 around the origin. */
const shadeSphere = (
  { ramp }: Plan,
  noise: Noise,
  { gas, light, radius, tilt }: Planet,
  air: Rgb,
  px: number,
  py: number,
  bytes: Uint8ClampedArray,
  offset: number
): void => {
  const distance = Math.hypot(px, py)
  if (distance > 1 + 1 / radius) return
  const pz = Math.sqrt(Math.max(0, 1 - distance * distance))
  const north = py * Math.cos(tilt) - px * Math.sin(tilt)
  const east = px * Math.cos(tilt) + py * Math.sin(tilt)
  const texture = textureAt(noise, gas, east, north, pz)
  const facing = px * light[0] + py * light[1] + pz * light[2]
  const lit = smoothstep(-0.08, 0.95, facing) ** 0.9
  const rim = (1 - pz) ** 3 * clamp(facing + 0.4)
  const color = ramp.offset(clamp(0.32 + texture * 0.78 + 0.22 * lit))
  for (let channel = 0; channel < 3; channel++) {
    bytes[offset + channel] = ramp.bytes[color + channel]! * (0.015 + lit * 1.08) + air[channel]! * rim * 0.95
  }
  bytes[offset + 3] = 255 * clamp((1 - distance) * radius + 0.5)
}
