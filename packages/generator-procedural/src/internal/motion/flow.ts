/** Abstract movement: silk whose folds wander, or light that runs along strands. */
import { Chance } from "../chance.ts"
import { css, mix, white } from "../color.ts"
import { Noise } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { clothOf, foldsOf, isSilk, paintStrands, shadeCloth, type Strand } from "../scenes/flow.ts"
import { makeField, makeSurface, type Surface, tau } from "../surface.ts"
import { drawLayer, type Frames, makeOverlay, type Motion } from "./layers.ts"

/** Moves silk or strands. */
export const flow: Motion = (plan, surface) => {
  const chance = new Chance(`flow|${plan.key}`)
  const noise = new Noise(chance)
  const paint = isSilk(plan, chance)
    ? moveSilk(plan, surface, chance, noise)
    : moveStrands(plan, surface, chance, noise)
  const overlay = makeOverlay(plan, surface, 0.32)
  return (time) => {
    paint(time)
    drawLayer(surface, overlay, time)
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Points of the cloth along the shorter side. Each is computed again for every frame. */
const clothSide = 300

/** Turns from one cloth towards another. A turn, unlike a blend, keeps the height of the folds. */
const moveSilk = (plan: Plan, surface: Surface, chance: Chance, noise: Noise): Frames => {
  const field = makeField(surface, clothSide)
  const cloth = clothOf(chance)
  const first = foldsOf(noise, cloth, field, 0)
  const second = foldsOf(noise, cloth, field, 20)
  return (time) => {
    const cos = Math.cos(time * 0.3)
    const sin = Math.sin(time * 0.3)
    const turned = (a: Float32Array, b: Float32Array) => a.map((value, index) => value * cos + b[index]! * sin)
    const folds = {
      fold: turned(first.fold, second.fold),
      bendX: turned(first.bendX, second.bendX),
      bendY: turned(first.bendY, second.bendY)
    }
    shadeCloth(plan, field, folds, -1.1 * time)
    surface.context.drawImage(field.canvas, 0, 0, surface.width, surface.height)
  }
}

/** Sparks on the strands. */
const sparkCount = 420

const moveStrands = (plan: Plan, surface: Surface, chance: Chance, noise: Noise): Frames => {
  const still = makeSurface(surface.width, surface.height)
  const strands = chance.shuffled(paintStrands(plan, still, chance, noise)).slice(0, sparkCount)
  const sparks = strands.map((strand) => ({ strand, start: chance.next(), speed: chance.between(0.16, 0.42) }))
  return (time) => {
    surface.context.drawImage(still.canvas, 0, 0)
    for (const { speed, start, strand } of sparks) paintSpark(plan, surface, strand, (start + speed * time) % 1)
  }
}

/** Paints light on a part of a strand. It fades in at the start of the strand and out at its end. */
const paintSpark = ({ dark }: Plan, surface: Surface, { color, points, thickness }: Strand, share: number): void => {
  const { context, height, unit, width } = surface
  const side = Math.min(width, height)
  const head = Math.floor(share * points.length)
  const tail = Math.max(0, head - 12)
  context.strokeStyle = css(mix(color, white, dark ? 0.6 : 0.78), Math.sin(share * tau / 2) * 0.85)
  context.lineWidth = Math.max(1.6 * unit, thickness * 0.34)
  context.lineCap = "round"
  context.lineJoin = "round"
  context.beginPath()
  for (const [x, y] of points.slice(tail, head + 1)) context.lineTo(x * side, y * side)
  context.stroke()
}
