/** A picture that comes to life: a slow zoom, light that passes over it, and dust in the colours of the prompt. */
import { type Canvas, createCanvas } from "@napi-rs/canvas"
import { Chance } from "../chance.ts"
import { css, mix } from "../color.ts"
import { clamp, smoothstep } from "../noise.ts"
import type { Plan } from "../plan.ts"
import { glow, makeSurface, type Surface, tau } from "../surface.ts"
import { drawLayer, makeOverlay, type Motion } from "./layers.ts"

/** Moves a picture of the size of the video. The first frame is the picture, pixel by pixel. */
export const firstFrame = (picture: Uint8Array): Motion => (plan, surface, seconds) => {
  const { context, height, width } = surface
  const chance = new Chance(`first frame|${plan.key}`)
  const canvas = canvasOf(picture, width, height)
  const focus = [chance.between(0.35, 0.65), chance.between(0.35, 0.6)] as const
  const dust = makeDust(plan, surface, chance)
  const light = makeLight(plan, surface)
  const overlay = makeOverlay(plan, surface, 0)
  return (time) => {
    context.drawImage(canvas, 0, 0)
    if (time === 0) return
    const zoom = 1 + 0.12 * smoothstep(0, seconds * 1.15, time)
    context.drawImage(
      canvas,
      -width * (zoom - 1) * focus[0],
      -height * (zoom - 1) * focus[1],
      width * zoom,
      height * zoom
    )
    const strength = clamp(time / 0.8)
    context.save()
    context.globalCompositeOperation = "screen"
    context.globalAlpha = strength
    context.drawImage(light.canvas, Math.round((time / seconds - 0.5) * 1.6 * width - 0.2 * width), 0)
    dust(time, strength)
    context.restore()
    context.globalAlpha = strength
    if (plan.title !== null) drawLayer(surface, overlay, time)
    context.globalAlpha = 1
  }
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const canvasOf = (picture: Uint8Array, width: number, height: number): Canvas => {
  const canvas = createCanvas(width, height)
  const context = canvas.getContext("2d")
  const image = context.createImageData(width, height)
  image.data.set(picture)
  context.putImageData(image, 0, 0)
  return canvas
}

/** A slanted band of light. */
const makeLight = ({ palette }: Plan, { height, width }: Surface): Surface => {
  const light = makeSurface(Math.ceil(width * 1.2), height)
  const gradient = light.context.createLinearGradient(0, 0, width, height * 0.45)
  gradient.addColorStop(0.15, css(palette[4], 0))
  gradient.addColorStop(0.45, css(palette[4], 0.2))
  gradient.addColorStop(0.6, css(palette[3], 0.12))
  gradient.addColorStop(0.85, css(palette[3], 0))
  light.context.fillStyle = gradient
  light.context.fillRect(0, 0, light.width, height)
  return light
}

const dustCount = 70

/** Specks of light that rise and glimmer. */
const makeDust = ({ palette }: Plan, { context, height, unit, width }: Surface, chance: Chance) => {
  const side = Math.ceil(64 * unit)
  const sprite = makeSurface(side, side)
  glow(sprite, side / 2, side / 2, side / 2, mix(palette[4], palette[5], 0.6), 0.9)
  const specks = Array.from({ length: dustCount }, () => ({
    x: chance.next(),
    y: chance.next(),
    nearness: chance.between(0.2, 1),
    phase: chance.between(0, tau)
  }))
  return (time: number, strength: number): void => {
    for (const { nearness, phase, x, y } of specks) {
      const size = Math.round(side * (0.2 + 0.8 * nearness))
      const left = ((x + time * 0.012 * nearness) % 1) * (width + side) - side
      const top = ((y + 10 - time * 0.025 * nearness) % 1) * (height + side) - side
      context.globalAlpha = strength * nearness * (0.35 + 0.3 * Math.sin(phase + time * 1.7))
      context.drawImage(sprite.canvas, Math.round(left), Math.round(top), size, size)
    }
  }
}
