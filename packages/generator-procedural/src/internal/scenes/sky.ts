/** The sky of a landscape: its gradient, the sun or the moon, clouds and stars. */
import { css, mix, type Rgb } from "../color.ts"
import { clamp, type Noise, smoothstep } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { paintStars } from "../stars.ts"
import { glow, shade, type Surface, tau } from "../surface.ts"

/** Properties of a sky. Positions are shares of width and height, lengths are units. */
export interface Sky {
  /** Colours at the zenith, half-way and at the horizon. */
  readonly stops: readonly [Rgb, Rgb, Rgb]
  readonly sunX: number
  readonly sunY: number
  readonly sunRadius: number
  readonly sunColor: Rgb
  /** Where the sky meets the land, about. */
  readonly bottom: number
  /** 0 (clear) to 1. */
  readonly clouds: number
}

/** Fills the surface with the sky. */
export const paintSky = (plan: Plan, surface: Surface, sky: Sky, noise: Noise): void => {
  paintClearSky(plan, surface, sky)
  paintClouds(plan, surface, sky, noise)
}

/** Fills the surface with the sky without its clouds. */
export const paintClearSky = (plan: Plan, surface: Surface, sky: Sky): void => {
  const { dark, key, palette } = plan
  const { height, unit, width } = surface
  paintAir(plan, surface, sky)
  if (dark) {
    paintStars(surface, {
      key: `sky|${key}`,
      count: Math.round(520 * Math.max(surface.aspect, 1 / surface.aspect)),
      colors: [palette[5], mix(palette[4], palette[5], 0.5)],
      alpha: 0.95,
      reach: sky.bottom
    })
  }
  const x = sky.sunX * width
  const y = sky.sunY * height
  const radius = sky.sunRadius * unit
  glow(surface, x, y, radius * 5, sky.sunColor, dark ? 0.5 : 0.75)
  paintDisc(plan, surface, sky, x, y, radius)
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const paintAir = ({ dark, palette }: Plan, surface: Surface, sky: Sky): void => {
  const [zenith, middle, low] = sky.stops
  const warmth = mix(palette[3], palette[4], 0.55)
  const strength = dark ? 0.4 : 0.8
  shade(surface, 220, (x, y, bytes, offset) => {
    const height = clamp(y / sky.bottom)
    const upper = smoothstep(0, 0.62, height)
    const lower = smoothstep(0.38, 1, height)
    const distance = Math.hypot((x - sky.sunX) * surface.aspect, (y - sky.sunY) * 1.15)
    const warm = strength * Math.exp(-distance * (dark ? 3.4 : 2.2))
    for (let channel = 0; channel < 3; channel++) {
      const base = zenith[channel]! + (middle[channel]! - zenith[channel]!) * upper
      const air = base + (low[channel]! - base) * lower
      bytes[offset + channel] = air + (warmth[channel]! - air) * warm
    }
    bytes[offset + 3] = 255
  })
}

const craters = [[-0.3, -0.2, 0.25], [0.25, 0.1, 0.18], [-0.05, 0.4, 0.2], [0.2, -0.45, 0.12]] as const

const paintDisc = (plan: Plan, { context }: Surface, sky: Sky, x: number, y: number, radius: number): void => {
  context.fillStyle = css(sky.sunColor)
  context.beginPath()
  context.arc(x, y, radius, 0, tau)
  context.fill()
  if (!plan.dark) return
  context.fillStyle = css(mix(sky.sunColor, plan.palette[2], 0.3), 0.3)
  for (const [dx, dy, size] of craters) {
    context.beginPath()
    context.arc(x + dx * radius, y + dy * radius, size * radius, 0, tau)
    context.fill()
  }
}

/** Drifting bands; each point is lit by how much cloud lies between it and the sun. */
export const paintClouds = ({ dark, palette }: Plan, surface: Surface, sky: Sky, noise: Noise): void => {
  const [, c1, c2, c3, c4, c5] = palette
  const bright = dark ? mix(c3, c4, 0.45) : mix(c5, sky.sunColor, 0.5)
  const shadow = dark ? mix(c1, c2, 0.7) : mix(c3, c2, 0.35)
  const stretch = Math.max(0.75, Math.min(1.6, surface.aspect))
  const density = (x: number, y: number) => {
    const bend = 0.35 * noise.at(x * 1.3, y * 0.6, 2.5)
    return noise.octaves(x + bend, y, 7.7, 5, 0.55)
  }
  shade(surface, 300, (x, y, bytes, offset) => {
    const height = y / sky.bottom
    const cloudX = x * stretch * 1.7
    const cloudY = height * 5.4
    const here = density(cloudX, cloudY)
    const cover = smoothstep(0.04, 0.5, here + 0.14 * sky.clouds - Math.abs(height - 0.5) * 0.44)
    if (cover === 0 || height > 1.3) {
      bytes[offset + 3] = 0
      return
    }
    const towardX = (sky.sunX - x) * surface.aspect
    const towardY = sky.sunY - y
    const distance = Math.hypot(towardX, towardY) + 0.001
    const between = density(cloudX + 0.12 * towardX / distance, cloudY + 0.28 * towardY / distance)
    const light = clamp(0.45 + (here - between) * 1.5 + 0.55 * Math.exp(-distance * 2.4))
    for (let channel = 0; channel < 3; channel++) {
      bytes[offset + channel] = shadow[channel]! + (bright[channel]! - shadow[channel]!) * light
    }
    bytes[offset + 3] = cover * (dark ? 120 : 205)
  })
}
