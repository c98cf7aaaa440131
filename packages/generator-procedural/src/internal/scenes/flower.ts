/** One flower: rings of petals around a seeded heart, on a stem with leaves. */
import type { Chance } from "../chance.ts"
import { black, css, mix, type Rgb, white } from "../color.ts"
import { clamp } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { type Surface, tau } from "../surface.ts"

/** Properties that the flowers of a picture share. */
export interface Kind {
  /** Fewest and most petals of a ring. */
  readonly petals: readonly [number, number]
  /** Rings of petals of the nearest flower. */
  readonly rings: number
  /** Radius of the heart, as a share of the size. */
  readonly heart: number
  /** The heart is brown instead of yellow. */
  readonly brown: boolean
  /** 0 for petals in the palette's strong colours, 1 for pale ones. */
  readonly pale: number
}

/** Selects the flowers of a picture by the prompt, or else by chance. */
export const kindOf = ({ words }: Plan, chance: Chance): Kind => {
  const [any, pale] = [chance.pick([full, full, open, daisy] as const), chance.between(0.15, 0.95)]
  if (words.has("sunflower", "sunflowers")) return sunflower
  const kind = words.has("rose", "roses", "peony", "peonies", "dahlia", "bouquet")
    ? full
    : words.has("daisy", "daisies", "meadow", "aster", "chamomile")
    ? daisy
    : words.has("cherry", "sakura", "blossom", "blossoms", "orchid", "anemone")
    ? open
    : any
  const soft = words.has("white", "soft", "pastel", "cherry", "sakura", "snow")
  const strong = words.has("red", "roses", "rose", "romantic", "vivid")
  return { ...kind, pale: soft ? 0.9 : strong ? 0.1 : pale }
}

/** A flower. Lengths are pixels. */
export interface Flower extends Pick<Kind, "heart" | "brown" | "pale"> {
  readonly x: number
  readonly y: number
  /** From the heart to the tips. */
  readonly size: number
  /** 0 far to 1 near. */
  readonly nearness: number
  readonly petals: number
  readonly rings: number
  readonly turn: number
  /** How far it faces away: 1 is straight at the viewer. */
  readonly tilt: number
  /** Which of the palette's colours it leans to, 0 to 1. */
  readonly hue: number
  /** 0 round to 1 pointed. */
  readonly point: number
  readonly bend: number
}

/** A flower of this place and size, the rest left to chance. */
export const flowerOf = (
  chance: Chance,
  { brown, heart, pale, petals, rings }: Kind,
  place: Pick<Flower, "x" | "y" | "size" | "nearness">
): Flower => ({
  ...place,
  brown,
  heart,
  pale,
  petals: chance.whole(...petals),
  rings: Math.max(2, rings - (place.nearness === 1 ? 0 : 2)),
  turn: chance.between(0, tau),
  tilt: chance.between(0.74, 1),
  hue: chance.next(),
  point: chance.next(),
  bend: chance.between(-0.5, 0.5)
})

/** The stem from the heart down to the lower edge, with two leaves. */
export const paintStem = ({ palette }: Plan, { context, height, unit }: Surface, flower: Flower): void => {
  const { bend, nearness, size, x, y } = flower
  const leaf = mix(mix(palette[1], [58, 112, 62], 0.5), palette[2], 0.25 * (1 - nearness))
  const foot = Math.max(height * 1.08, y + size * 2)
  context.strokeStyle = css(mix(leaf, palette[0], 0.4))
  context.lineWidth = size * 0.05 + 1.5 * unit
  context.lineCap = "round"
  context.beginPath()
  context.moveTo(x, y)
  context.bezierCurveTo(x + size * 0.1, y + size * 1.2, x + size * bend * 1.4, height * 0.92, x + size * bend, foot)
  context.stroke()
  for (const side of [-1, 1]) {
    context.save()
    context.translate(x + size * (0.06 + 0.06 * bend), y + size * (1.3 + 0.22 * side))
    context.rotate(side * (0.95 + 0.2 * bend))
    paintLeaf(context, size * 0.95, mix(leaf, palette[0], 0.45), mix(leaf, palette[4], 0.3), unit)
    context.restore()
  }
}

/** The flower itself. */
export const paintFlower = ({ palette }: Plan, { context, unit }: Surface, flower: Flower): void => {
  const { brown, heart, hue, pale, petals, rings, size, tilt, turn, x, y } = flower
  const [c0, , c2, c3, c4, c5] = palette
  const deep = mix(mix(c2, c3, hue), c3, 0.35)
  const tip = mix(mix(c3, c4, 0.25 + 0.3 * hue), mix(c4, c5, 0.2 + 0.4 * hue), pale)
  context.save()
  context.translate(x, y)
  context.rotate(turn)
  context.scale(1, tilt)
  paintShadow(context, size, c0)
  for (let ring = 0; ring < rings; ring++) {
    const inward = ring / rings
    const length = size * (1 - inward * 0.74)
    const count = Math.max(5, petals - ring)
    const breadth = length * 2.6 / count + length * 0.06
    for (let petal = 0; petal < count; petal++) {
      context.save()
      context.rotate(petal / count * tau + ring * 0.41)
      const uneven = 0.95 + 0.07 * Math.sin(petal * 2.4 + ring * 1.7 + turn * 5)
      paintPetal(context, {
        length: length * uneven,
        breadth: breadth * (1.02 - 0.06 * Math.sin(petal * 3.1 + ring)),
        point: flower.point,
        deep: mix(deep, c0, 0.42 - 0.12 * inward),
        middle: mix(deep, tip, 0.3 + 0.22 * inward),
        tip: mix(tip, deep, 0.1 * (petal % 3)),
        vein: mix(deep, c0, 0.3),
        shade: c0,
        unit
      })
      context.restore()
    }
  }
  paintHeart(
    context,
    size * heart,
    brown ? 420 : 150,
    brown ? mix(c0, [124, 72, 28], 0.7) : mix(c3, [250, 190, 60], 0.6),
    c0
  )
  context.restore()
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const full: Omit<Kind, "pale"> = { petals: [8, 13], rings: 6, heart: 0.18, brown: false }
const open: Omit<Kind, "pale"> = { petals: [5, 7], rings: 2, heart: 0.2, brown: false }
const daisy: Omit<Kind, "pale"> = { petals: [14, 19], rings: 3, heart: 0.24, brown: false }
const sunflower: Kind = { petals: [19, 24], rings: 3, heart: 0.44, brown: true, pale: 0 }

type Context = Surface["context"]

interface Petal {
  readonly length: number
  readonly breadth: number
  readonly point: number
  readonly deep: Rgb
  readonly middle: Rgb
  readonly tip: Rgb
  readonly vein: Rgb
  readonly shade: Rgb
  readonly unit: number
}

/** A petal that points up from the origin, a soft shadow under it and light along one edge. */
const paintPetal = (context: Context, petal: Petal): void => {
  const { breadth, length, unit } = petal
  const blunt = 0.12 + 0.2 * (1 - petal.point)
  const outline = () => {
    context.beginPath()
    context.moveTo(0, 0)
    context.bezierCurveTo(breadth * 0.85, -length * 0.28, breadth * 0.98, -length * 0.84, breadth * blunt, -length)
    context.quadraticCurveTo(0, -length * (0.93 + 0.09 * petal.point), -breadth * blunt, -length)
    context.bezierCurveTo(-breadth * 0.98, -length * 0.84, -breadth * 0.85, -length * 0.28, 0, 0)
  }
  const gradient = context.createLinearGradient(0, 0, 0, -length)
  gradient.addColorStop(0, css(petal.deep))
  gradient.addColorStop(0.45, css(petal.middle))
  gradient.addColorStop(1, css(petal.tip))
  context.shadowColor = css(petal.shade, 0.42)
  context.shadowBlur = length * 0.045
  context.shadowOffsetY = length * 0.01
  context.fillStyle = gradient
  outline()
  context.fill()
  context.shadowColor = css(petal.shade, 0)
  context.shadowBlur = 0
  context.shadowOffsetY = 0
  // One side of a petal turns towards the light, the other away from it.
  const across = context.createLinearGradient(-breadth * 0.75, 0, breadth * 0.75, 0)
  across.addColorStop(0, css(petal.shade, 0.2))
  across.addColorStop(0.45, css(petal.shade, 0))
  across.addColorStop(0.55, css(white, 0))
  across.addColorStop(1, css(white, 0.24))
  context.fillStyle = across
  outline()
  context.fill()
  context.strokeStyle = css(petal.vein, 0.2)
  context.lineWidth = unit * 0.9
  context.beginPath()
  for (const lean of [-0.42, -0.22, 0, 0.22, 0.42]) {
    context.moveTo(0, -length * 0.1)
    context.quadraticCurveTo(breadth * lean, -length * 0.5, breadth * lean * 0.75, -length * 0.87)
  }
  context.stroke()
}

const paintShadow = (context: Context, size: number, color: Rgb): void => {
  const gradient = context.createRadialGradient(0, size * 0.06, size * 0.5, 0, size * 0.06, size * 1.12)
  gradient.addColorStop(0, css(color, 0.3))
  gradient.addColorStop(1, css(color, 0))
  context.fillStyle = gradient
  context.fillRect(-size * 1.2, -size * 1.2, size * 2.4, size * 2.4)
}

/** Seeds in a sunflower's spiral. */
const paintHeart = (context: Context, heart: number, seeds: number, color: Rgb, dark: Rgb): void => {
  for (let seed = 0; seed < seeds; seed++) {
    const angle = seed * 2.399963
    const radius = heart * Math.sqrt(seed / seeds)
    const share = seed / seeds
    context.fillStyle = css(mix(mix(color, dark, clamp(0.55 - share)), white, share * 0.25))
    context.beginPath()
    context.arc(
      Math.cos(angle) * radius,
      Math.sin(angle) * radius,
      heart * (0.62 + 0.26 * share) / Math.sqrt(seeds),
      0,
      tau
    )
    context.fill()
  }
}

const paintLeaf = (context: Context, length: number, dark: Rgb, bright: Rgb, unit: number): void => {
  const half = (side: number, from: Rgb, to: Rgb) => {
    const gradient = context.createLinearGradient(0, 0, 0, -length)
    gradient.addColorStop(0, css(from))
    gradient.addColorStop(1, css(to))
    context.fillStyle = gradient
    context.beginPath()
    context.moveTo(0, 0)
    context.bezierCurveTo(side * length * 0.3, -length * 0.3, side * length * 0.22, -length * 0.75, 0, -length)
    context.quadraticCurveTo(side * length * 0.03, -length * 0.5, 0, 0)
    context.fill()
  }
  half(-1, mix(dark, black, 0.15), mix(bright, dark, 0.35))
  half(1, dark, bright)
  context.strokeStyle = css(bright, 0.35)
  context.lineWidth = unit
  context.beginPath()
  context.moveTo(0, 0)
  context.quadraticCurveTo(length * 0.015, -length * 0.5, 0, -length)
  context.stroke()
}
