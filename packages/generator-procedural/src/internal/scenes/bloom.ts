/** Flowers in soft light: blurred ones behind, one large in front, petals in the air. */
import { createCanvas } from "@napi-rs/canvas"
import { Chance } from "../chance.ts"
import { black, css, mix, white } from "../color.ts"
import { clamp, Noise } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { finish, glow, type Scene, shade, type Surface, tau } from "../surface.ts"
import { type Flower, flowerOf, kindOf, paintFlower, paintStem } from "./flower.ts"
import { wrapped } from "./weather.ts"

/** Paints flowers. */
export const bloom: Scene = (plan, surface) => {
  const chance = new Chance(`bloom|${plan.key}`)
  const noise = new Noise(chance)
  paintBackdrop(plan, surface, chance, noise)
  const flowers = arrange(plan, surface, chance)
  const behind = flowers.filter(({ nearness }) => nearness < 0.45)
  paintBlurred(plan, surface, behind)
  paintBokeh(plan, surface, chance)
  const front = flowers.filter(({ nearness }) => nearness >= 0.45)
  for (const flower of front) paintStem(plan, surface, flower)
  for (const flower of front) paintFlower(plan, surface, flower)
  paintPetals(plan, surface, chance)
  finish(plan, surface)
}

/** Paints soft light. */
export const paintBackdrop = ({ dark, palette, ramp }: Plan, surface: Surface, chance: Chance, noise: Noise): void => {
  const lightX = chance.pick([0.2, 0.8] as const)
  const spanX = Math.max(1, surface.aspect)
  const spanY = Math.max(1, 1 / surface.aspect)
  shade(surface, 160, (x, y, bytes, offset) => {
    const cloud = noise.octaves(x * spanX * 1.3, y * spanY * 1.3, 3, 3)
    const light = Math.exp(-Math.hypot((x - lightX) * 1.1, y - 0.12) * 1.7)
    const share = dark ? 0.03 + 0.3 * light + 0.18 * cloud : 0.26 + 0.62 * light + 0.26 * cloud - 0.1 * y
    const color = ramp.offset(clamp(share, 0.02, 0.95))
    bytes[offset] = ramp.bytes[color]!
    bytes[offset + 1] = ramp.bytes[color + 1]!
    bytes[offset + 2] = ramp.bytes[color + 2]!
    bytes[offset + 3] = 255
  })
  const { height, width } = surface
  glow(
    surface,
    lightX * width,
    height * 0.08,
    Math.max(width, height) * 0.7,
    mix(palette[4], palette[5], 0.5),
    dark ? 0.2 : 0.4
  )
}

/** Arranges flowers: the large one a little off the middle, the others around it without touching its heart. */
export const arrange = (
  plan: Plan,
  { height, unit, width }: Surface,
  chance: Chance
): ReadonlyArray<Flower> => {
  const kind = kindOf(plan, chance)
  const main = flowerOf(chance, kind, {
    x: width * chance.between(0.44, 0.56),
    y: height * chance.between(0.38, 0.46),
    size: chance.between(275, 320) * unit,
    nearness: 1
  })
  const flowers = [main]
  const wanted = chance.whole(9, 12)
  for (let attempt = 0; attempt < 80 && flowers.length < wanted; attempt++) {
    const nearness = chance.between(0.1, 0.9)
    const size = chance.between(90, 165) * (0.7 + 0.45 * nearness) * unit
    const x = chance.between(0.06, 0.94) * width
    const y = chance.between(0.16, 0.86) * height
    const crowded = flowers.some((other) =>
      Math.hypot(other.x - x, other.y - y) < (other.size + size) * (nearness < 0.45 && other !== main ? 0.45 : 0.78)
    )
    if (!crowded) flowers.push(flowerOf(chance, kind, { x, y, size, nearness }))
  }
  return flowers.toSorted((a, b) => a.nearness - b.nearness)
}

/** Paints distant flowers small and enlarges them, which is a cheap blur. */
export const paintBlurred = (plan: Plan, surface: Surface, flowers: ReadonlyArray<Flower>): void => {
  const scale = Math.min(surface.width, surface.height) / 110
  const columns = Math.round(surface.width / scale)
  const rows = Math.round(surface.height / scale)
  const canvas = createCanvas(columns, rows)
  const context = canvas.getContext("2d")
  context.scale(columns / surface.width, rows / surface.height)
  const small = { ...surface, canvas, context }
  for (const flower of flowers) paintStem(plan, small, flower)
  for (const flower of flowers) paintFlower(plan, small, flower)
  surface.context.save()
  surface.context.globalAlpha = 0.8
  surface.context.drawImage(canvas, 0, 0, surface.width, surface.height)
  surface.context.restore()
}

/** Paints discs of light out of focus. */
export const paintBokeh = ({ palette }: Plan, { context, height, unit, width }: Surface, chance: Chance): void => {
  context.save()
  context.globalCompositeOperation = "screen"
  for (let disc = 0; disc < 40; disc++) {
    const x = chance.next() * width
    const y = chance.next() * height
    const radius = chance.between(14, 80) * unit
    const color = mix(palette[4], palette[5], chance.next())
    const alpha = chance.between(0.05, 0.2)
    const gradient = context.createRadialGradient(x, y, 0, x, y, radius)
    gradient.addColorStop(0, css(color, alpha * 0.55))
    gradient.addColorStop(0.86, css(color, alpha * 0.75))
    gradient.addColorStop(0.95, css(color, alpha))
    gradient.addColorStop(1, css(color, 0))
    context.fillStyle = gradient
    context.beginPath()
    context.arc(x, y, radius, 0, tau)
    context.fill()
  }
  context.restore()
}

/** Paints petals in the air, at a time in seconds. */
export const paintPetals = (
  { palette }: Plan,
  { context, height, unit, width }: Surface,
  chance: Chance,
  time = 0
): void => {
  for (let petal = 0; petal < 30; petal++) {
    const size = chance.between(5, 14) * unit
    context.save()
    const x = wrapped(chance.next() + 0.03 * (Math.sin(time * 1.1 + petal) - Math.sin(petal)) + 0.02 * time)
    const y = wrapped(chance.next() + time * (0.05 + 0.004 * petal))
    context.translate(x * width, y * height)
    context.rotate(chance.between(0, tau) + time * (petal % 2 === 0 ? 0.9 : -0.7))
    const gradient = context.createLinearGradient(-size, 0, size, 0)
    gradient.addColorStop(0, css(mix(palette[3], black, 0.1), 0.8))
    gradient.addColorStop(1, css(mix(palette[4], white, 0.35), 0.9))
    context.fillStyle = gradient
    context.beginPath()
    context.ellipse(0, 0, size, size * chance.between(0.25, 0.6), 0, 0, tau)
    context.fill()
    context.restore()
  }
}
